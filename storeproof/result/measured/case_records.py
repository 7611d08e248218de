"""What single cases add to a result: a history that no order explains, how the time of an answer grows with the records, stale reads, and
what a case was not run for want of."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, Self

from storeproof.outcome import Lack
from storeproof.result.part import ResultPart


class AccessRecord(ResultPart):
    """One operation of a history, on its key."""

    client: int
    """-1 for an increment that stands for all earlier ones."""
    action: str
    value: str = ""
    expected: str = ""
    amount: int = 0
    answer: str | int | bool | None = None
    answer_known: bool
    """Whether the answer is known and part of the contradiction."""
    outcome: Literal["ok", "refused", "unknown"]
    invoked_us: float
    """Microseconds since the first request of the history."""
    completed_us: float | None = None
    contradicts: bool = False
    """Without this operation, an order explains all others."""


class HistoryRecord(ResultPart):
    """The smallest part of the history of a key that no order explains: it is not linearizable."""

    case: str
    key: str
    operations: int
    """Number of operations in the whole history."""
    fault_us: float | None = None
    """Time of the fault, if there was one."""
    accesses: list[AccessRecord]


class Lacked(ResultPart):
    """What was lacking, as data; the detail says it in words, with the remedy."""

    what: Lack
    model: str = ""
    operation: str = ""
    """Of `verified_operation`, the operation on the model that was not verified or not correct; else empty."""


class StaleReadCounts(ResultPart):
    """Those of one case that watched its reads."""

    reads: int
    """All that were answered."""
    stale: int
    oldest_ms: float
    """The greatest time since the newer write was acknowledged; 0 where none was stale."""

    @classmethod
    def of(cls, reads: int, ages_ms: Collection[float]) -> Self:
        """Of all reads, with the ages of the stale ones."""
        return cls(reads=reads, stale=len(ages_ms), oldest_ms=round(max(ages_ms, default=0.0), 1))


SUBLINEAR: Final = 4.0
"""Times as long for a hundred times the records: a tree of those is one level deeper, and a reader of all takes up to a hundred."""


class ScalingRecord(ResultPart):
    """The time of the same answer with more and more records, of one capability."""

    capability: str
    indexes: int
    seconds: dict[str, float]
    """Median seconds by number of records, ascending."""

    factor: float
    """The last time divided by the first."""
    sublinear: bool
    """Whether the factor is so small that the store cannot have read all records."""
