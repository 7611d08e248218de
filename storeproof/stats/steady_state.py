"""Warm-up: a measurement starts once the rate no longer changes, or after the longest time that the scale allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from time import monotonic
from typing import Final

WINDOWS: Final = 4
"""The latest windows, which must agree."""
LIMIT: Final = 0.05
"""The limit of the coefficient of variation, and of the change along a straight line through the windows."""
_SHORTEST: Final = 0.02
"""Seconds: a shorter window would measure the start of threads."""


@dataclass(frozen=True)
class WarmUp:
    rates: tuple[float, ...]
    """Rates of all windows, in operations per second."""
    seconds: float

    @property
    def variation(self) -> float:
        """The greater of scatter and trend over the last windows, both relative; what the limit is held against."""
        return unsteadiness(self.rates[-WINDOWS:])

    @property
    def steady(self) -> bool:
        """Whether there are windows enough, and the last ones agree."""
        return len(self.rates) >= WINDOWS and self.variation <= LIMIT


def unsteadiness(rates: Sequence[float]) -> float:
    """The greater of the coefficient of variation and of the change along a straight line; infinite without rates."""
    if not rates or (mean := fmean(rates)) <= 0:
        return float("inf")
    return max(pstdev(rates) / mean, change_along_line(rates))


def change_along_line(values: Sequence[float]) -> float:
    """How far the least-squares line through values rises or falls from the first to the last, as a share of their mean, which is not 0."""
    mean, places = fmean(values), range(len(values))
    middle = fmean(places)
    square = sum((place - middle) ** 2 for place in places)
    slope = sum((place - middle) * (value - mean) for place, value in zip(places, values, strict=True)) / square if square else 0.0
    return abs(slope) * (len(values) - 1) / mean


def warm_up(run_window: Callable[[float], float], at_least: float, at_most: float) -> WarmUp:
    """Run windows until they are steady, for no less than `at_least` seconds, and hardly more than `at_most`.

    There are always windows enough to judge by. `run_window` takes seconds and gives the rate it saw.
    """
    window = max(at_least / WINDOWS, _SHORTEST)
    rates: list[float] = []
    begun = monotonic()
    while True:
        rates.append(run_window(window))
        seconds = monotonic() - begun
        done = WarmUp(tuple(rates), seconds)
        if len(rates) >= WINDOWS and seconds >= at_least and (done.steady or seconds + window > at_most):
            return done
