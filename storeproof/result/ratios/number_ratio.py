"""The ratio of two numbers: a point, an inequality where the load generator was a limit, or the reasons why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from storeproof.result.measurement import Measurement
from storeproof.stats.ratio import Ratio, paired_ratio_of, ratio_of

Bound = Literal["", "≥", "≤"]


@dataclass(frozen=True)
class NumberRatio:
    """A over B, or the reasons why there is none."""

    ratio: Ratio | None
    bound: Bound = ""
    """`≥`: A is at least as fast as its number, so the true ratio is as large or larger; `≤`: B is."""
    refused: tuple[str, ...] = ()


def number_ratio(a: Measurement, b: Measurement, *, paired: bool, names: tuple[str, str] = ("A", "B")) -> NumberRatio:
    """The ratio of two measurements of which only the stores, or only the numbers of indexes, differ.

    Args:
        paired: whether the n-th rounds of both were measured in one block. It counts only where both have as many rounds.
        names: of both sides, for the reasons.
    """
    sides = tuple(zip(names, (a, b), strict=True))
    reasons = [f"{name}: not valid: {', '.join(each.invalid)}" for name, each in sides if each.invalid]
    reasons += [
        f"{name}: drifting by {100 * each.trend.change:+.1f} % a round, there is no one rate" for name, each in sides if each.trend.drifting
    ]
    rates = [each.throughput for each in a.rounds], [each.throughput for each in b.rounds]
    if min(map(len, rates)) < 2:
        reasons.append("a single round has no spread: at least two rounds on each side are needed")
    elif min(map(min, rates)) <= 0:
        reasons.append("a round without a single successful operation has no ratio")
    if a.at_least and b.at_least:
        reasons.append("the load generator was the limit on both sides, so either may be faster")
    if reasons:
        return NumberRatio(None, refused=tuple(reasons))
    ratio = paired_ratio_of(rates[0], rates[1]) if paired and len(rates[0]) == len(rates[1]) else ratio_of(rates[0], rates[1])
    return NumberRatio(ratio, "≥" if a.at_least else "≤" if b.at_least else "")
