"""Estimates with confidence intervals. The sample is the round, never the single operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, cos, exp, log, pi, sin, sqrt, tan
from statistics import fmean, median, stdev
from typing import Any, Final, Literal

from hdrh.histogram import HdrHistogram

from storeproof.stats.autocorrelation import standard_error_factor

BOOTSTRAP_FROM: Final = 10
"""Values from which an interval of a ratio is a bootstrap; under that a resample has too few values to choose from."""
_RESAMPLES: Final = 5000

RANKS_FROM: Final = 8
"""Rounds from which the interval of the median is one of ranks: the fewest of which a rank lies far enough out (0.5 ** 7 < `_MISS`)."""
_MISS: Final = 0.02
"""Probability with which the interval may miss the median at one look.

A measurement looks at its interval up to fifteen times (after 8, 12, ... 64 rounds), and ends when it is narrow enough. An interval that
may miss in 5 of 100 at each look misses more often at the look that ends it: those that happen to be narrow are the ones that are kept.
As in Pocock's design for group-sequential trials (Biometrika 64, 1977) each look has the same, smaller share. His constant for fifteen
looks is 0.0086, for trials that end when a difference shows; ending on the width alone spends less. In simulations (tests/stats) the
interval that is kept covers the median in 96 to 99 of 100 with independent rounds, and in 94 with an autocorrelation of 0.3, twice that of
real rounds.
"""

SAMPLES_BEYOND: Final = 100
"""A percentile is shown only where at least this many samples lie beyond it."""


@dataclass(frozen=True)
class Estimate:
    """A median with a 95 % interval."""

    median: float
    low: float
    high: float

    @property
    def half_interval(self) -> float:
        """Half the interval's width as a share of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else float("inf")


def estimate(rounds: Sequence[float]) -> Estimate:
    """The median over rounds, in their order, with its 95 % interval.

    From eight rounds on the interval lies between two ranks of the sorted rounds, whatever their distribution is: the number of rounds
    below the median is binomial. Between whole ranks it is interpolated (Hettmansperger and Sheather, Statistics & Probability Letters 4,
    1986), and it is widened where neighbouring rounds are alike (`standard_error_factor`). With fewer rounds, no rank lies far enough out:
    the interval is Student's t on the logarithms, since rates are positive and their errors are relative. One round has no interval: low
    and high are the round itself.

    Raises:
        ValueError: no rounds, or one that is not positive.
    """
    if not rounds or min(rounds) <= 0:
        raise ValueError(f"rounds are positive and at least one; found {list(rounds)}")
    middle = median(rounds)
    if len(rounds) == 1:
        return Estimate(middle, middle, middle)
    logs = [log(each) for each in rounds]
    if len(rounds) < RANKS_FROM:
        reach = student(len(rounds) - 1) * stdev(logs) / sqrt(len(rounds))
        centre = fmean(logs)
        # The centre of the interval is the geometric mean; a skewed handful can have its median outside, so it is widened.
        return Estimate(middle, min(exp(centre - reach), middle), max(exp(centre + reach), middle))
    low, high = (log(bound / middle) * standard_error_factor(logs) for bound in _between_ranks(sorted(rounds)))
    return Estimate(middle, middle * exp(low), middle * exp(high))


def _between_ranks(ordered: Sequence[float]) -> tuple[float, float]:
    """The interval of the median that misses it with the probability `_MISS`."""
    count = len(ordered)
    missed = [2 * sum(comb(count, below) for below in range(rank)) / 2**count for rank in range(1, count // 2 + 1)]
    rank = max(number for number, share in enumerate(missed, 1) if share <= _MISS)  # from 1; that rank alone misses too seldom
    outer, inner = missed[rank - 1], missed[rank]
    share = (_MISS - outer) / (inner - outer)
    inwards = (count - rank) * share / (rank + (count - 2 * rank) * share)
    low = ordered[rank - 1] + inwards * (ordered[rank] - ordered[rank - 1])
    high = ordered[-rank] + inwards * (ordered[-rank - 1] - ordered[-rank])
    return low, high


def student(freedom: int) -> float:
    """The upper 2.5 % point of Student's t for these degrees of freedom."""
    low, high = 0.0, pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _within(middle, freedom) < 0.95 else (low, middle)
    return sqrt(freedom) * tan(middle)


def _within(angle: float, freedom: int) -> float:
    """The probability that Student's t lies within ± √freedom tan(angle): Abramowitz and Stegun, Handbook of Mathematical Functions (1964),
    26.7.3 and 26.7.4."""
    odd = freedom % 2
    term, total = (cos(angle) if odd else 1.0) * sin(angle), 0.0
    for power in range(1 + odd, freedom, 2):
        total += term
        term *= power / (power + 1) * cos(angle) ** 2
    return (angle + total) * 2 / pi if odd else total


def bootstrap(statistic: Callable[..., Any], *samples: Sequence[float], seed: int) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic, from resamples of each of the samples.

    `statistic` takes as many arrays as there are samples, and an `axis`. The draws are those of `scipy.stats.bootstrap`, whose package
    takes longer to import than a report takes to write.
    """
    import numpy as np  # here, because only intervals need it

    draws = np.random.default_rng(seed)
    values = [np.asarray(sample) for sample in samples]
    drawn = [each[draws.integers(0, len(each), (_RESAMPLES, len(each)))] for each in values]
    low, high = np.percentile(statistic(*drawn, axis=-1), (2.5, 97.5))
    return float(low), float(high)


def percentile(histogram: HdrHistogram, percent: float) -> float | None:
    """A latency in microseconds, or None with fewer than 100 samples beyond it."""
    if histogram.get_total_count() * (100 - percent) / 100 < SAMPLES_BEYOND:
        return None
    return float(histogram.get_value_at_percentile(percent)) / 1000


Grade = Literal["A", "B", "C", "D"]

GRADES: Final[Mapping[Grade, float]] = {"A": 0.05, "B": 0.10, "C": 0.20}
"""The widest half interval of each, as a share of the median; what is wider is D."""


def grade(half_interval: float) -> Grade:
    """The best that a half interval reaches."""
    return next((letter for letter, widest in GRADES.items() if half_interval <= widest), "D")
