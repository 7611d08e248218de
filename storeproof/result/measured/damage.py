"""What a store did with files that were damaged while it was down."""

from __future__ import annotations

from storeproof.result.part import ResultPart


class DamageCounts(ResultPart):
    """The rounds of one kind of damage, and those in which it came to harm."""

    rounds: int
    """Each with one damaged file."""
    made_up: int
    """In which it served data that no client wrote."""
    silent: int
    """In which records were missing although later ones were present, and nothing was reported."""
