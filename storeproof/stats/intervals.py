"""Estimates with confidence intervals. The sample is the round, never the single operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, median, stdev
from typing import Any, Final

from hdrh.histogram import HdrHistogram

BOOTSTRAP_FROM: Final = 10
"""Rounds from which the interval is a bootstrap; under that a resample has too few values to choose from."""
_RESAMPLES: Final = 5000

SAMPLES_BEYOND: Final = 100
"""A percentile is shown only where at least this many samples lie beyond it."""


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
        return Estimate(middle, *bootstrap(_median, samples, seed=seed))
    logs = [log(each) for each in samples]
    reach = student(len(samples) - 1) * stdev(logs) / sqrt(len(samples))
    centre = fmean(logs)
    # The centre of the interval is the geometric mean; a skewed handful can have its median outside, so it is widened.
    return Estimate(middle, min(exp(centre - reach), middle), max(exp(centre + reach), middle))


def student(freedom: float) -> float:
    """The upper 2.5 % point of Student's t for these degrees of freedom."""
    from scipy.special import stdtrit  # only here: it takes longer to import than the rest of the project

    return float(stdtrit(freedom, 0.975))


def bootstrap(statistic: Callable[..., Any], *samples: Sequence[float], seed: int) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic, from resamples of each of the samples.

    `statistic` takes as many arrays as there are samples, and an `axis`.
    """
    from scipy import stats  # only here: it takes longer to import than the rest of the project

    made = stats.bootstrap(samples, statistic, n_resamples=_RESAMPLES, confidence_level=0.95, method="percentile", rng=seed)
    return float(made.confidence_interval.low), float(made.confidence_interval.high)


def _median(values: Any, axis: int) -> Any:
    import numpy as np

    return np.median(values, axis=axis)


def percentile(histogram: HdrHistogram, percent: float) -> float | None:
    """A latency in microseconds, or None with fewer than 100 samples beyond it."""
    if histogram.get_total_count() * (100 - percent) / 100 < SAMPLES_BEYOND:
        return None
    return float(histogram.get_value_at_percentile(percent)) / 1000
