"""Where the I/O of a store went while a workload was measured, in a result."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storeproof.result.part import Gate, Histogram, ResultPart

Kind = Literal["journal", "save", "merge", "catalogue", "temporary", "log", "read", "other", "unnamed"]


class Waits(ResultPart):
    """How long threads waited each time, in microseconds."""

    samples: int
    mean: float
    p50: float | None
    """None with fewer than 100 samples above it, and so with `p99`."""
    p99: float | None
    max: float
    histogram: Histogram
    """In nanoseconds."""


class KindOfIo(ResultPart):
    """What was seen of one kind."""

    written_bytes: int
    """Into the page cache and by direct writes."""
    syncs: int
    direct_writes: int
    waits: Waits | None
    """For syncs and direct writes; None: there were none."""
    under_way: float
    """Share of the clients' time in which at least one of these was under way."""
    read_bytes: int
    """That the device read."""
    reads: Waits | None
    """For reads of the device; None: there were none."""


class DeviceRecord(ResultPart):
    """What reached the device."""

    written_bytes: int
    """By the store's files, and by the file system for itself."""
    flushes: int
    flush_waits: Waits | None
    flushes_per_sync: float | None
    """None without a sync."""


class MeanWaits(ResultPart):
    """Mean waits in microseconds; None: none was visible, which is not zero."""

    journal: float | None
    """For syncs and direct writes of the journal."""
    save: float | None
    merge_write: float | None
    merge_read: float | None
    """For reads of the device by threads that merge."""
    overall: float | None
    """The unweighted mean of those that were visible."""


class Anatomy(ResultPart):
    """The I/O of a store over the measured rounds of one workload, by kind."""

    rounds: int
    seconds: float
    """In which clients sent requests."""
    kinds: dict[Kind, KindOfIo]
    mean_waits: MeanWaits
    by_round: list[MeanWaits] = Field(default_factory=list)
    """Those of each round, in their order; empty in results before 2026-12-01."""
    client_share: float | None
    """Share of the clients' time in which a sync or direct write of the journal was under way: of a write's latency, at most so much is
    waiting for the journal. None in an open loop, whose clients are idle between requests."""
    client_bytes: int | None
    """Of the records that clients wrote; None for operations that write parts of records."""
    file_bytes: int
    """Written to the store's files."""
    files_per_client: float | None
    """Bytes in files for each byte of the clients."""
    device: DeviceRecord | None
    """None: see `device_reason`."""
    device_per_client: float | None
    device_reason: str
    """Why what reached the device is not known to be the store's; empty where it is."""
    lost_records: int
    """Records that the kernel dropped."""
    unmatched: list[str]
    """Rules of the store's file that named none of the I/O."""
    gates: dict[str, Gate]
    """`classified`: the share of bytes, syncs or waiting, the greatest of the three, of files that no rule names or whose name is unknown.
    `complete`: lost records."""
    invalid: list[str] = Field(default_factory=list)
    """The gates that failed; empty for a valid table."""
    steady_from: int | None = None
    """The first round, counted from 1, of five in which the rate and the mean wait for the journal are steady
    (`storeproof.stats.steady_rounds`); None: they drift, or there are fewer than five."""
