"""The noise floor of each kind of workload: how far two medians of the same thing lie apart by chance.

Rounds of one lap scatter around the rate of that lap. Where a run has several laps, the rates of laps scatter too, by two causes: the
machine is slower or faster for all that is measured then, and a server runs better or worse after one start than after another. Two numbers
of the same blocks share the first; two numbers of two runs share nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, pi, sqrt
from statistics import fmean
from typing import Any, Final

from storeproof.result.measurement import Measurement
from storeproof.result.model import Result
from storeproof.stats.autocorrelation import inflation, pooled_autocorrelation, split, without_mean

_NORMAL: Final = 1.96
"""The upper 2.5 % point of the normal distribution: in 19 of 20 cases chance stays below it."""


@dataclass(frozen=True)
class KindNoise:
    """The noise of one kind of workload in a result. Deviations are standard deviations of logarithms of rates, pooled over all numbers."""

    kind: str
    deviation: float
    """Between the rounds of one lap."""
    measurements: int
    fewest: int
    """Rounds of the measurement that has fewest: what is beyond its floor is beyond the floor of all."""
    laps: int = 1
    """The laps of each measurement, if all have as many; else the fewest."""
    between: float | None = None
    """Between laps, beyond what the scatter of their rounds explains; None: there is one lap."""
    between_starts: float | None = None
    """The part of it that numbers of the same blocks do not share: a server runs better after one start than after another."""
    inflation: float = 1.0
    """By how much the variance of a mean is greater than that of independent rounds, since neighbouring rounds are alike: what the machine
    does lasts longer than a round. Numbers of the same blocks share it."""

    def factor(self, rounds: int, laps: int = 1, *, same_blocks: bool = False) -> float:
        """The factor below which two medians of the same thing differ by chance, in 19 of 20 cases.

        A median scatters up to sqrt(pi / 2) times as much as a mean, and two of them sqrt(2) times as much as one.

        Args:
            rounds: of each of the two.
            laps: over which these rounds are shared.
            same_blocks: whether both were measured in turns.
        """
        between = (self.between_starts if same_blocks else self.between) or 0.0
        inflation = 1.0 if same_blocks else self.inflation
        return exp(_NORMAL * sqrt(2 * (between**2 / laps + pi / 2 * inflation * self.deviation**2 / rounds)))

    @property
    def floor(self) -> float:
        """The factor for the fewest rounds, of two numbers of the same blocks."""
        return self.factor(self.fewest, self.laps, same_blocks=True)


def kind_of(measured: Measurement) -> str:
    """The kind of its workload; in results of older editions, which name none, each workload is its own."""
    return measured.kind or measured.workload


def noise_of(result: Result) -> Mapping[str, KindNoise]:
    """By kind, of all numbers of a result."""
    return noise_of_kinds(each for store in result.stores for each in store.measurements)


def noise_of_kinds(measured: Iterable[Measurement]) -> Mapping[str, KindNoise]:
    """By kind, from the scatter of the rounds of each lap, and of the laps of each measurement.

    What drifts scatters around no one rate, and what is invalid is not the rate of what was to be measured: neither counts. Nor does a
    measurement of one round, or with a round without an answer.
    """
    of_kind: dict[str, list[_Logs]] = {}
    for each in measured:
        rates = [one.throughput for one in each.rounds]
        if len(rates) > 1 and min(rates) > 0 and not each.trend.drifting and not each.invalid:
            blocks = (each.workload, each.clients, each.pipeline, each.rate, each.record)
            of_kind.setdefault(kind_of(each), []).append(_Logs(blocks, split([log(rate) for rate in rates], each.laps)))
    return {kind: _pooled(kind, logs) for kind, logs in of_kind.items()}


@dataclass(frozen=True)
class _Logs:
    """The logarithms of the rates of one number's rounds."""

    blocks: tuple[Any, ...]
    """The same for all numbers that were measured in turns."""
    laps: Sequence[Sequence[float]]

    @property
    def rounds(self) -> int:
        return sum(map(len, self.laps))

    @property
    def of_laps(self) -> list[float]:
        """By how much each lap is off the mean of all."""
        return without_mean([fmean(each) for each in self.laps])


def _pooled(kind: str, every: Sequence[_Logs]) -> KindNoise:
    of_rounds = [without_mean(one) for each in every for one in each.laps if len(one) > 1]
    deviation = sqrt(_squares(of_rounds) / sum(len(one) - 1 for one in of_rounds))
    alike = inflation(pooled_autocorrelation([one for each in every for one in each.laps]))
    several = [each for each in every if len(each.laps) > 1]
    return KindNoise(
        kind,
        deviation,
        len(every),
        min(each.rounds for each in every),
        min(len(each.laps) for each in every),
        _between([[each] for each in several], deviation, alike) if several else None,
        _between(list(_in_turns(several)), deviation, alike) if several else None,
        alike,
    )


def _in_turns(several: Sequence[_Logs]) -> Iterator[list[_Logs]]:
    """Numbers that were measured in the same blocks, with equally many laps; alone, one shares its blocks with none."""
    of_blocks: dict[tuple[Any, ...], list[_Logs]] = {}
    for each in several:
        of_blocks.setdefault((*each.blocks, len(each.laps)), []).append(each)
    yield from of_blocks.values()


def _between(groups: Sequence[Sequence[_Logs]], deviation: float, alike: float) -> float:
    """The deviation between laps, without what the numbers of a group have in common, and less what the scatter of rounds explains.
    `alike`: by how much autocorrelation widens the variance of a number measured alone, not interleaved with others."""
    squares = explained = freedom = 0.0
    for group in groups:
        common = [fmean(values) if len(group) > 1 else 0.0 for values in zip(*(each.of_laps for each in group), strict=True)]
        left = [[one - shared for one, shared in zip(each.of_laps, common, strict=True)] for each in group]
        free = (len(common) - 1) * max(len(group) - 1, 1)
        squares += _squares(left)
        own = 1.0 if len(group) > 1 else alike
        explained += free * own * deviation**2 * fmean(1 / len(one) for each in group for one in each.laps)
        freedom += free
    return sqrt(max(squares - explained, 0.0) / freedom)


def _squares(values: Iterable[Iterable[float]]) -> float:
    return sum(value**2 for each in values for value in each)
