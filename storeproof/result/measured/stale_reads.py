"""Reads that returned a value although a newer write had been acknowledged before they were sent."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from storeproof.result.part import ResultPart


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
