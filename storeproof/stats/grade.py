"""How precise a number is, in a letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Grade = Literal["A", "B", "C", "D"]

GRADES: Final[Mapping[Grade, float]] = {"A": 0.05, "B": 0.10, "C": 0.20}
"""The widest half interval of each, as a share of the median; what is wider is D."""


def grade(half_interval: float) -> Grade:
    """The best that a half interval reaches."""
    return next((letter for letter, widest in GRADES.items() if half_interval <= widest), "D")
