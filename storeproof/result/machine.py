"""The machine of a run in a result: its limits, its disks, and what of it each store was given."""

from __future__ import annotations

from pydantic import Field

from storeproof import units
from storeproof.machine.cores import FEWEST
from storeproof.result.part import ResultPart
from storeproof.spec.device import DeviceSheet


class WriteTimes(ResultPart):
    """How long single writes took until they were on the disk, in microseconds."""

    samples: int
    p50: float
    p99: float | None
    """None with fewer than 100 samples."""


class DiskSheet(ResultPart):
    """What was measured of one of several disks before anything was launched on it. None: the disk or its file system cannot do that."""

    disk: str
    """Of a model its title."""
    filesystem: str
    device: str
    """`major:minor` of its file system: two names with the same are of one disk."""
    append: WriteTimes | None
    """600 bytes at the end of a file, and fdatasync: what a growing log costs."""
    overwrite: WriteTimes | None
    """4 KiB in place, and fdatasync: what a preallocated log costs."""
    direct: WriteTimes | None
    """4 KiB in place with O_DIRECT and O_DSYNC."""
    write_bytes_per_second: float | None
    """In sequence, synced at the end."""
    read_bytes_per_second: float | None
    """In sequence, not from the page cache."""
    model: DeviceSheet | None = None
    """What it answers by, of a model of a device; None: it is a disk."""


class NoiseFloor(ResultPart):
    """How far two measurements of the same load differ, on a server that does nothing."""

    ratio: float
    """Ratio of the medians over interleaved rounds."""
    low: float
    high: float
    """Its 95 % interval."""

    @property
    def factor(self) -> float:
        """The factor by which two measurements may differ."""
        return max(self.high, 1 / self.low)


class Placement(ResultPart):
    """Where stores and load generator ran while speed was measured, the same for every store of the run."""

    server: list[int]
    """Numbers of the cores that each store was given."""
    generator: list[int]
    """Those of the load generator."""
    shared: str
    """Why they have cores in common; empty where they have none."""
    memory_bytes: int | None = None
    """What each store was given, in every stage (`--memory`); None: all that there was."""


class Environment(ResultPart):
    """The machine, and its physical limits."""

    cpu: str
    cores: int
    memory_bytes: int
    kernel: str
    disk: str
    """Of the data directory; of several disks (`--disk`) the first, and so with `filesystem` and `fsync_us`."""
    filesystem: str
    fsync_us: float | None
    """Median of a 4 KiB append and fsync in the data directory; None where it could not be measured."""
    loopback_us: float | None
    """Median of a one-byte round trip over loopback TCP; None where it could not be measured."""
    noise: NoiseFloor | None = None
    """None where it was not measured."""
    placement: Placement | None = None
    """None in results of formats before 2.1."""
    disks: dict[str, DiskSheet] = Field(default_factory=dict)
    """By name those that `--disk` gave; the same store was launched on each."""
    python: str
    packages: dict[str, str]

    @property
    def confined_to(self) -> str:
        """Cores and memory of each store, in words, where it was given less of the machine than by default; else empty."""
        given = self.placement
        if given is None or not given.server:
            return ""
        # Of fewer cores than are split, a store has all.
        used = given.server if given.shared or self.cores < FEWEST else (*given.server, *given.generator)
        if given.memory_bytes is None and len(set(used)) == self.cores:
            return ""
        memory = f" and {units.size(given.memory_bytes)}" if given.memory_bytes is not None else ""
        return units.plural(len(given.server), "core") + memory
