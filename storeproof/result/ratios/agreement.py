"""Reproducibility: of a plan that was run twice on one machine, how many numbers agree within the noise floor of their kind.

And how many ratios of two stores do. The stores of a run are measured in turns, so a machine that is slower in one of the runs, as a shared
one is by some percent, is in the numbers of all of them, and in no ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

from storeproof.result.compare import PLAN, Side, floor, order_of, unlike_machines
from storeproof.result.measurement import Measurement
from storeproof.result.ratios.noise import kind_of


@dataclass(frozen=True)
class Twice:
    store: str
    """`store:variant`."""
    a: Measurement
    b: Measurement
    noise: float
    """The noise floor, as a factor."""
    noise_in_turns: float
    """The same against a number of the same blocks."""

    @property
    def factor(self) -> float:
        medians = self.a.throughput.median, self.b.throughput.median
        return max(medians) / min(medians)

    @property
    def agrees(self) -> bool:
        """Whether the medians are as near to each other as those of the same thing are by chance."""
        return self.factor <= self.noise


@dataclass(frozen=True)
class RatioTwice:
    """The ratio of two stores' rates of one workload, in both runs."""

    one: Twice
    other: Twice

    @property
    def factor(self) -> float:
        first, second = (
            self.one.a.throughput.median / self.other.a.throughput.median,
            self.one.b.throughput.median / self.other.b.throughput.median,
        )
        return max(first, second) / min(first, second)

    @property
    def noise(self) -> float:
        """The noise floor, as a factor: that of a number holds for two medians, and four are in this."""
        return float(max(self.one.noise_in_turns, self.other.noise_in_turns) ** sqrt(2))

    @property
    def agrees(self) -> bool:
        """Whether the ratios are as near to each other as those of the same thing are by chance."""
        return self.factor <= self.noise


@dataclass(frozen=True)
class OfKind:
    kind: str
    numbers: tuple[Twice, ...]

    @property
    def agreeing(self) -> int:
        return sum(each.agrees for each in self.numbers)


@dataclass(frozen=True)
class Agreement:
    refused: tuple[str, ...]
    """Why they are not the same plan on the same machine; nothing is compared then."""
    kinds: tuple[OfKind, ...] = ()
    not_valid: int = 0
    """Numbers that are invalid in a run."""
    drifting: int = 0
    """Numbers that are valid in both, and drift in one or both."""
    alone: int = 0
    """Numbers without a partner in the other run."""

    @property
    def numbers(self) -> tuple[Twice, ...]:
        return tuple(each for kind in self.kinds for each in kind.numbers)

    @property
    def ratios(self) -> tuple[RatioTwice, ...]:
        """The ratios of each two stores, for each workload of which both have a number that was compared."""
        of_plan: dict[tuple[Any, ...], list[Twice]] = {}
        for each in self.numbers:
            of_plan.setdefault(_plan(each.a), []).append(each)
        return tuple(RatioTwice(*both) for stores in of_plan.values() for both in combinations(stores, 2))


def agreement(pairs: Sequence[tuple[Side, Side]]) -> Agreement:
    """Compares the stores of two results, each with itself.

    Durability is no condition: both sides are the same store with the same settings, and only the rate is compared with itself.
    """
    refused = dict.fromkeys(reason for a, b in pairs for reason in unlike_machines(a, b))
    if refused:
        return Agreement(tuple(refused))
    of_kind: dict[str, list[Twice]] = {}
    not_valid = drifting = alone = 0
    for a, b in pairs:
        left, right = ({_plan(each): each for each in side.store.measurements} for side in (a, b))
        alone += len(left.keys() ^ right.keys())
        for one, other in sorted(((left[plan], right[plan]) for plan in left.keys() & right.keys()), key=lambda both: order_of(both[0])):
            if one.invalid or other.invalid or not min(one.throughput.median, other.throughput.median):
                not_valid += 1
            elif one.trend.drifting or other.trend.drifting:
                drifting += 1
            else:
                noises = floor(a, one, b, other), floor(a, one, b, other, same_blocks=True)
                of_kind.setdefault(kind_of(one), []).append(Twice(a.name, one, other, *noises))
    kinds = tuple(OfKind(kind, tuple(numbers)) for kind, numbers in of_kind.items())
    return Agreement((), kinds, not_valid, drifting, alone)


def _plan(measured: Measurement) -> tuple[Any, ...]:
    return (measured.workload, *(getattr(measured, field) for field in PLAN))
