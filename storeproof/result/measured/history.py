"""A history that no order explains, as a result has it."""

from __future__ import annotations

from typing import Literal

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
