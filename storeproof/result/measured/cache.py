"""What the front of a composite store did for reads.

The clients are threads of one Python process, which share its interpreter: rates and response times compare with each other, and not with
those of workloads. Whether the front answered a read, the layer counts. Percentiles are by the nearest rank, in microseconds.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storeproof.result.part import ResultPart


class HitRateRecord(ResultPart):
    """Reads of random keys, in a closed loop, with a front of limited memory that is as full as it gets."""

    front: Literal["quarter", "half", "all"]
    """The memory of the front: of this share of the payload; `all`: of four times the payload."""
    front_bytes: int
    payload_bytes: int
    """Of all records."""
    records: int
    distribution: Literal["uniform", "zipf"]
    """Of the keys. With `uniform` the hit rate is the share of the records that the front keeps; `zipf` is Zipf's law, constant 0.99.
    YCSB's `zipfian` draws from ten billion items, so that a few thousand keys are read almost evenly."""
    clients: int
    reads: int
    hits: int
    """Reads that the front answered; the home answered the others."""
    rate: float
    """Reads per second."""
    p50_us: float
    p99_us: float

    @property
    def hit_rate(self) -> float:
        return self.hits / self.reads


class HitBin(ResultPart):
    """The reads of half a second."""

    second: float
    """Its start, from the first request after the restart."""
    reads: int
    hits: int


class ColdStartRecord(ResultPart):
    """The front was killed and started again, with what it kept. Reads of random keys (`zipf`) were due at a fixed rate."""

    records: int
    clients: int
    rate: int
    """Requests per second due, of all clients together."""
    hit_rate_before: float
    """With a copy of every record."""
    hit_rate_first: float
    """Of the first reads after the restart."""
    back_seconds: float | None
    """From the first request after the restart until the hit rate of 200 reads was within five points of that before; None: not seen."""
    home_reads: int
    """Reads that the home answered meanwhile."""
    p99_before_us: float | None
    p99_us: float | None
    """Until the hit rate was back, from the due time."""
    bins: list[HitBin]


class DogpileRecord(ResultPart):
    """All clients read one key in a closed loop, and its copy was removed again and again, as if it had expired."""

    clients: int
    expiries: int
    home_reads_median: float
    """Reads that reached the home after one expiry."""
    home_reads_most: int
    p99_us: float | None
    """Of the reads that were answered within 20 ms after an expiry."""
    p99_otherwise_us: float | None


class CacheRecord(ResultPart):
    """All of a store; empty for a store that is one server."""

    hit_rates: list[HitRateRecord] = Field(default_factory=list)
    cold_starts: list[ColdStartRecord] = Field(default_factory=list)
    dogpiles: list[DogpileRecord] = Field(default_factory=list)
