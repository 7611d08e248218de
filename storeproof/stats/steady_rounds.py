"""When rounds are steady: by the rule of SNIA's Solid State Storage Performance Test Specification (2.0.2, "Steady State")."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from storeproof.stats.steady_state import change_along_line

WINDOW: Final = 5
"""Rounds in a row."""
_RANGE: Final = 0.20
"""The most that the largest of them may exceed the smallest, as a share of their mean."""
_CHANGE: Final = 0.10
"""The most that the least-squares line through them may rise or fall, as a share of their mean."""


def steady_from(*series: Sequence[float]) -> int | None:
    """The number of the first round, counted from 1, of the first window in which every series is steady; None: there is no such window."""
    rounds = min(map(len, series), default=0)
    return next(
        (first + 1 for first in range(rounds - WINDOW + 1) if all(_is_steady(each[first : first + WINDOW]) for each in series)), None
    )


def _is_steady(window: Sequence[float]) -> bool:
    mean = fmean(window)
    return mean > 0 and max(window) - min(window) <= _RANGE * mean and change_along_line(window) <= _CHANGE
