"""How alike neighbouring rounds are: n rounds that follow each other's disturbances tell less than n independent ones.

Of several laps, what follows from the order of rounds holds within a lap, since between two laps other things happened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from math import sqrt
from statistics import fmean
from typing import Final


def split(rounds: Sequence[float], laps: Sequence[int]) -> list[Sequence[float]]:
    """The rounds of each lap. `laps`: how many rounds each lap has, together as many as there are; none: all are of one lap."""
    ends = list(accumulate(laps or (len(rounds),)))
    return [rounds[end - length : end] for end, length in zip(ends, laps or ends, strict=True)]


def without_mean(values: Sequence[float]) -> list[float]:
    """By how much each value is off the mean of all."""
    mean = fmean(values)
    return [value - mean for value in values]


_FEWEST: Final = 5
"""Values of a row that tell anything of it."""
_GREATEST: Final = 0.8
"""Beyond it a handful of rounds tells hardly anything, and the factor would have no end."""


def autocorrelation(values: Sequence[float], laps: Sequence[int] = (), fitted: int = 1) -> float:
    """The correlation of each value with the next one of its lap, from 0 to 0.8; at least five values in each lap.

    Args:
        laps: how many values each lap has; see `split`.
        fitted: how many parameters were taken out of the values of a lap before: 1 for their mean, 2 for a line. Each makes the plain
            estimate too low by about 1 / n (Kendall, Biometrika 41, 1954), which is added again.
    """
    left = [without_mean(each) for each in split(values, laps)]
    square = sum(value**2 for value in chain(*left))
    if square == 0:
        return 0.0
    plain = sum(one * other for each in left for one, other in pairwise(each)) / square
    return min(max((plain * len(values) + fitted * len(left)) / (len(values) - 4 * len(left)), 0.0), _GREATEST)


def pooled_autocorrelation(rows: Sequence[Sequence[float]]) -> float:
    """The autocorrelation of several rows, from 0 to 0.8: the mean of each row's, weighted by its squared deviations.

    One that independent values have by chance, up to two standard errors (of a row, 1 / sqrt(n) times its correction), counts as none.
    """
    sums = squares = variances = 0.0
    for row in map(without_mean, rows):
        count, square = len(row), sum(value**2 for value in row)
        if count < _FEWEST:
            continue
        correction = count / (count - 3)  # the plain estimate is too low by (1 + 3 r) / n (Kendall, Biometrika 41, 1954)
        sums += correction * (sum(one * other for one, other in pairwise(row)) + square / count)
        squares += square
        variances += (correction * square) ** 2 / count
    found = sums / squares if squares else 0.0
    return min(found, _GREATEST) if found * squares > 2 * sqrt(variances) else 0.0


def inflation(found: float) -> float:
    """By how much the variance of a mean of values with this autocorrelation, below 1, is greater than that of independent ones: of a
    first-order autoregressive process."""
    return (1 + found) / (1 - found)


def standard_error_factor(values: Sequence[float]) -> float:
    """By how much a mean or median of autocorrelated values is less certain than that of as many independent ones.

    An r that independent values have by chance (one standard error, 1 / sqrt(n)) counts as none.

    Of several laps all values count as one row: where a lap is slower than another, its values are alike, and tell less. Simulated
    (tests/stats/test_laps.py), with starts that differ by as much as rounds do, the interval covers the long-run median in 9 of 10 with
    four laps, and in 7 of 10 with one, which saw one start.
    """
    found = autocorrelation(values)
    return sqrt(inflation(found)) if found > 1 / sqrt(len(values)) else 1.0
