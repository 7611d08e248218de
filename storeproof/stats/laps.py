"""Rounds of several laps: what follows from their order holds within a lap, since between two laps other things happened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from statistics import fmean


def split(rounds: Sequence[float], laps: Sequence[int]) -> list[Sequence[float]]:
    """The rounds of each lap. `laps`: how many rounds each lap has, together as many as there are; none: all are of one lap."""
    ends = list(accumulate(laps or (len(rounds),)))
    return [rounds[end - length : end] for end, length in zip(ends, laps or ends, strict=True)]


def without_mean(values: Sequence[float]) -> list[float]:
    """By how much each value is off the mean of all."""
    mean = fmean(values)
    return [value - mean for value in values]
