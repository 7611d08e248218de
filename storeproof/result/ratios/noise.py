"""The noise floor of each kind of workload: how far two medians of the same thing lie apart by chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log, pi, sqrt
from statistics import fmean
from typing import Final

from storeproof.result.measurement import Measurement
from storeproof.result.model import Result

_NORMAL: Final = 1.96
"""The upper 2.5 % point of the normal distribution: in 19 of 20 cases chance stays below it."""


@dataclass(frozen=True)
class KindNoise:
    """Of one kind of workload in one result."""

    kind: str
    deviation: float
    """Standard deviation of the logarithm of the rate between the rounds of one measurement, pooled over all of them."""
    measurements: int
    fewest: int
    """Rounds of the measurement that has fewest: what is beyond its floor is beyond the floor of all."""

    def factor(self, rounds: int) -> float:
        """The factor below which two medians of as many rounds differ by chance, in 19 of 20 cases.

        A median scatters up to sqrt(pi / 2) times as much as a mean, and two of them sqrt(2) times as much as one.
        """
        return exp(_NORMAL * self.deviation * sqrt(pi / 2 * 2 / rounds))

    @property
    def floor(self) -> float:
        """The factor for the fewest rounds."""
        return self.factor(self.fewest)


def kind_of(measured: Measurement) -> str:
    """The kind of its workload; in results of older editions, which name none, each workload is its own."""
    return measured.kind or measured.workload


def noise_of(result: Result) -> Mapping[str, KindNoise]:
    """By kind, of all numbers of a result."""
    return noise_of_kinds(each for store in result.stores for each in store.measurements)


def noise_of_kinds(measured: Iterable[Measurement]) -> Mapping[str, KindNoise]:
    """By kind, from the scatter of the rounds around the rate of their own measurement.

    What drifts scatters around no one rate, and what is invalid is not the rate of what was to be measured: neither counts. Nor does a
    measurement of one round, or with a round without an answer.
    """
    of_kind: dict[str, list[list[float]]] = {}
    for each in measured:
        rates = [one.throughput for one in each.rounds]
        if len(rates) > 1 and min(rates) > 0 and not each.trend.drifting and not each.invalid:
            of_kind.setdefault(kind_of(each), []).append([log(rate) for rate in rates])
    return {kind: _pooled(kind, logs) for kind, logs in of_kind.items()}


def _pooled(kind: str, logs: list[list[float]]) -> KindNoise:
    freedom = sum(len(each) - 1 for each in logs)
    squares = sum((value - mean) ** 2 for each in logs for mean in (fmean(each),) for value in each)
    return KindNoise(kind, sqrt(squares / freedom), len(logs), min(map(len, logs)))
