"""How the time of an answer grows with the records."""

from __future__ import annotations

from typing import Final

from storeproof.result.part import ResultPart

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
