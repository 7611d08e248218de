"""From rounds to one number with its uncertainty. The round is the sample, never the single operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from random import Random
from statistics import fmean, median, stdev
from typing import Final

from hdrh.histogram import HdrHistogram

STUDENT_975: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Upper 2.5 % points of Student's t for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2); above,
that of 30 is safe."""

BOOTSTRAP_FROM: Final = 10
"""Rounds from which the interval is a bootstrap; under that a resample has too few values to choose from."""
_RESAMPLES: Final = 5000

SAMPLES_BEYOND: Final = 100
"""A percentile is told only where at least so many samples lie beyond it."""


@dataclass(frozen=True)
class Estimate:
    """A median with a 95 % interval."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Half the interval's width as a share of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else float("inf")


def estimate(samples: Sequence[float], seed: int = 0) -> Estimate:
    """The median over rounds with its 95 % interval.

    Under ten rounds the interval is Student's t on the logarithms: rates are positive, and their errors are
    relative. From ten on it is the percentile bootstrap of the median (Efron and Tibshirani 1993), 5000 resamples.
    One round has no interval: low and high are the round itself, and the gate on spread must not pass.

    Raises:
        ValueError: no samples, or one that is not positive.
    """
    if not samples or min(samples) <= 0:
        raise ValueError(f"rounds are positive and at least one; found {list(samples)}")
    middle = median(samples)
    if len(samples) == 1:
        return Estimate(middle, middle, middle)
    if len(samples) >= BOOTSTRAP_FROM:
        random = Random(seed)
        return Estimate(middle, *resampled(lambda: median(random.choices(samples, k=len(samples)))))
    logs = [log(each) for each in samples]
    reach = STUDENT_975[len(samples) - 2] * stdev(logs) / sqrt(len(samples))
    centre = fmean(logs)
    # The centre of the interval is the geometric mean; a skewed handful can have its median outside, so it is widened.
    return Estimate(middle, min(exp(centre - reach), middle), max(exp(centre + reach), middle))


def resampled(draw: Callable[[], float]) -> tuple[float, float]:
    """The 2.5th and the 97.5th percentile of what a bootstrap draws."""
    drawn = sorted(draw() for _ in range(_RESAMPLES))
    return drawn[int(0.025 * _RESAMPLES)], drawn[int(0.975 * _RESAMPLES) - 1]


def percentile(histogram: HdrHistogram, percent: float) -> float | None:
    """A latency in microseconds, or None with fewer than 100 samples beyond it."""
    if histogram.get_total_count() * (100 - percent) / 100 < SAMPLES_BEYOND:
        return None
    return float(histogram.get_value_at_percentile(percent)) / 1000
