"""Whether the rounds of a measurement drift: a store that grows slower, or faster, while it is measured has no one rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import erfc, expm1, log, sqrt
from statistics import median
from typing import Final

from storeproof.stats.autocorrelation import autocorrelation, inflation, split

SIGNIFICANT: Final = 0.05
"""Probability under which a trend is no chance."""
_FEWEST: Final = 8
"""Rounds; with fewer, hardly any order of them is unlikely enough."""


@dataclass(frozen=True)
class Trend:
    change: float
    """From one round to the next, as a share: the median over all pairs of rounds (Theil and Sen)."""
    probability: float
    """The probability of a trend at least as strong in rounds without one."""

    @property
    def drifting(self) -> bool:
        return self.probability < SIGNIFICANT


def trend(rounds: Sequence[float], laps: Sequence[int] = ()) -> Trend:
    """The test of Mann and Kendall over the rounds in their order, two-sided, in the normal approximation.

    Of several laps, only rounds of one lap are compared, and scores and variances are added up (Hirsch, Slack and Smith, Water Resources
    Research 18, 1982): that a server is faster after another start is no drift.

    It compares signs of differences only, so that one outlier counts no more than any other round. Where neighbouring rounds are alike,
    disturbances of the machine look like trends: the variance is that of as many rounds as are independent (Yue and Wang, Water Resources
    Management 18, 2004), from the autocorrelation of what is left without the trend.
    """
    of_laps = split(rounds, laps)
    if min(map(len, of_laps)) < _FEWEST or min(rounds) <= 0:
        return Trend(0.0, 1.0)
    logs = [[log(each) for each in one] for one in of_laps]
    slopes = [(one[later] - one[earlier]) / (later - earlier) for one in logs for earlier, later in combinations(range(len(one)), 2)]
    slope = median(slopes)
    score = sum((each > 0) - (each < 0) for each in slopes)
    left = [[value - slope * place for place, value in enumerate(one)] for one in logs]
    alike = autocorrelation(list(chain(*left)), laps, fitted=2)
    variance = sum(count * (count - 1) * (2 * count + 5) / 18 for count in map(len, logs)) * inflation(alike)
    deviation = max(abs(score) - 1, 0) / sqrt(variance)
    return Trend(expm1(slope), erfc(deviation / sqrt(2)))
