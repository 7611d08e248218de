"""The ratio of two throughputs with its confidence interval, from the rounds of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, pi, sqrt
from statistics import fmean, median, stdev, variance
from typing import Any, Final

from storeproof.stats.intervals import BOOTSTRAP_FROM, bootstrap, student

METHOD: Final = (
    "ratio of the medians over rounds; 95 % interval by bootstrap over the rounds of each side, and under ten rounds from their log "
    "throughputs (Welch's standard error, Student's t, widened by sqrt(pi/2) since medians scatter more than means)"
)


PAIRED_METHOD: Final = (
    "geometric mean over blocks of the ratio within each, since the rounds of both were interleaved; 95 % interval by bootstrap over the "
    "blocks, and under ten from the logarithms (Student's t)"
)


@dataclass(frozen=True)
class Ratio:
    """A over B, with its 95 % interval. `middle` is the ratio of the medians, or the mean ratio of the blocks."""

    middle: float
    low: float
    high: float

    @property
    def shows_difference(self) -> bool:
        return self.low > 1 or self.high < 1


def ratio_of(a: Sequence[float], b: Sequence[float], seed: int = 0) -> Ratio:
    """The ratio of the medians of positive throughputs, with its 95 % interval.

    From ten rounds on both sides it is the percentile bootstrap (Efron and Tibshirani 1993), each side drawn for itself. Under that a
    resample has too few values to choose from, and it is built on the logarithms of the throughputs, which are closer to normal than the
    throughputs and make A/B and B/A the same statement: degrees of freedom after Satterthwaite, rounded down.

    Raises:
        ValueError: less than two rounds on a side, or one that is not positive.
    """
    _refuse(a, b)
    middle = median(a) / median(b)
    if min(len(a), len(b)) >= BOOTSTRAP_FROM:
        return Ratio(middle, *bootstrap(_ratio_of_medians, a, b, seed=seed))
    logs = [[log(value) for value in side] for side in (a, b)]
    parts = [variance(side) / len(side) for side in logs]
    squared = sum(parts)
    if squared == 0:
        return Ratio(middle, middle, middle)
    freedom = squared**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, logs, strict=True))
    half = student(max(int(freedom), 1)) * sqrt(
        squared * pi / 2
    )  # pi/2 is the most by which a median of normal samples scatters more than their mean
    return Ratio(middle, middle * exp(-half), middle * exp(half))


def paired_ratio_of(a: Sequence[float], b: Sequence[float], seed: int = 0) -> Ratio:
    """The geometric mean of a[n] / b[n], with its 95 % interval, where the n-th rounds of both were measured one after the other: what the
    machine did then it did to both.

    From ten blocks on it is the percentile bootstrap over the blocks, and under that Student's t on the logarithms of the ratios.

    Raises:
        ValueError: less than two blocks, a round that is not positive, or one without its partner.
    """
    _refuse(a, b)
    logs = [log(one / other) for one, other in zip(a, b, strict=True)]
    centre = fmean(logs)
    if len(logs) >= BOOTSTRAP_FROM:
        low, high = bootstrap(_mean, logs, seed=seed)
        return Ratio(exp(centre), exp(low), exp(high))
    half = student(len(logs) - 1) * stdev(logs) / sqrt(len(logs))
    return Ratio(exp(centre), exp(centre - half), exp(centre + half))


def _ratio_of_medians(a: Any, b: Any, axis: int) -> Any:
    import numpy as np

    return np.median(a, axis=axis) / np.median(b, axis=axis)


def _mean(values: Any, axis: int) -> Any:
    return values.mean(axis=axis)


def _refuse(a: Sequence[float], b: Sequence[float]) -> None:
    if min(len(a), len(b)) < 2 or min(*a, *b) <= 0:
        raise ValueError(f"rounds are positive, and two at least on each side; found {list(a)} and {list(b)}")
