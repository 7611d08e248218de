"""The method itself, on simulated rounds whose truth is known: rounds go on until the interval is narrow enough, as a measurement's do.

Each kind of rounds is simulated five hundred times, with fixed seeds: nothing here depends on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from random import Random
from statistics import median

import pytest

from storeproof.stats.intervals import Estimate, estimate, grade
from storeproof.stats.trend import Trend, trend

EXPERIMENTS = 500
WANTED = 0.05
LOOKS = range(8, 65, 4)
Generator = Callable[[Random, int], Sequence[float]]


@dataclass(frozen=True)
class Ended:
    """What a measurement ended with."""

    rate: Estimate
    drift: Trend
    rounds: int


def independent(spread: float) -> Generator:
    """Log-normal rounds around 1."""
    return lambda random, count: [exp(random.gauss(0, spread)) for _ in range(count)]


def heavy_tailed(random: Random, count: int) -> Sequence[float]:
    """Student's t with three degrees of freedom on the logarithms: now and then a round is far out."""

    def t3() -> float:
        return random.gauss(0, 1) / sqrt(sum(random.gauss(0, 1) ** 2 for _ in range(3)) / 3)

    return [exp(0.05 * t3()) for _ in range(count)]


def bimodal(random: Random, count: int) -> Sequence[float]:
    """Three of ten rounds are a fifth slower, as with a processor whose clock changes."""
    return [exp(random.gauss(0, 0.03) - 0.22 * (random.random() < 0.3)) for _ in range(count)]


def autocorrelated(random: Random, count: int) -> Sequence[float]:
    """Each round follows the one before with 0.3: real ones do with 0.1 to 0.15."""
    found = [random.gauss(0, 0.08)]
    while len(found) < count:
        found.append(0.3 * found[-1] + random.gauss(0, 0.08 * sqrt(1 - 0.3**2)))
    return [exp(each) for each in found]


STEADY = {
    "independent, 3 %": independent(0.03),
    "independent, 8 %": independent(0.08),
    "independent, 15 %": independent(0.15),
    "heavy-tailed": heavy_tailed,
    "bimodal": bimodal,
    "autocorrelated": autocorrelated,
}


def drifting(random: Random, count: int) -> Sequence[float]:
    """A store that slows down by 2 % a round."""
    return [each * 0.98**place for place, each in enumerate(independent(0.08)(random, count))]


@cache
def truth(name: str) -> float:
    """The median of very many rounds."""
    return median(STEADY[name](Random(1), 200_000))


def measure(rounds: Sequence[float]) -> Ended:
    """As a measurement does: eight rounds, and then four more until it is precise and no trend is in sight."""
    for count in LOOKS:
        ended = Ended(estimate(rounds[:count]), trend(rounds[:count]), count)
        if ended.rate.half_interval <= WANTED and ended.drift.probability > 0.2:
            break
    return ended


@cache
def experiments(name: str) -> Sequence[Ended]:
    """All measurements of one kind of rounds."""
    generate = drifting if name == "drifting" else STEADY[name]
    return [measure(generate(Random(f"{name} {number}"), LOOKS[-1])) for number in range(EXPERIMENTS)]


@pytest.mark.parametrize("name", STEADY)
@pytest.mark.slow
def test_the_interval_covers_the_truth(name: str) -> None:
    """In at least 93 of 100 measurements that ended when they were precise enough."""
    held = sum(each.rate.low <= truth(name) <= each.rate.high for each in experiments(name))
    assert held >= 0.93 * EXPERIMENTS, f"{held} of {EXPERIMENTS}"


@pytest.mark.parametrize("name", STEADY)
def test_ending_early_does_not_bias_the_median(name: str) -> None:
    """By no more than 1 %, over all measurements and over those that ended at the first look."""
    for ended in (experiments(name), [each for each in experiments(name) if each.rounds == LOOKS[0]]):
        if len(ended) >= EXPERIMENTS / 10:
            middle = median(each.rate.median for each in ended)
            assert middle == pytest.approx(truth(name), rel=0.01)


@pytest.mark.parametrize("name", STEADY)
def test_rounds_without_a_trend_are_seldom_called_drifting(name: str) -> None:
    """In no more than 6 of 100 measurements."""
    alarms = sum(each.drift.drifting for each in experiments(name))
    assert alarms <= 0.06 * EXPERIMENTS, f"{alarms} of {EXPERIMENTS}"


@pytest.mark.slow
def test_a_store_that_slows_down_is_called_drifting() -> None:
    """2 % a round, with rounds that scatter by 8 %: in nineteen of twenty measurements; and the rate of the change is right."""
    found = [each.drift for each in experiments("drifting") if each.drift.drifting]
    assert len(found) >= 0.95 * EXPERIMENTS
    assert median(each.change for each in found) == pytest.approx(-0.02, abs=0.005)


def test_the_interval_of_a_drifting_store_holds_its_rate_in_the_middle() -> None:
    """There is no one rate; the interval holds that half way through the rounds in at least 93 of 100 measurements."""
    held = sum(each.rate.low <= 0.98 ** ((each.rounds - 1) / 2) <= each.rate.high for each in experiments("drifting"))
    assert held >= 0.93 * EXPERIMENTS, f"{held} of {EXPERIMENTS}"


def test_more_scatter_takes_more_rounds() -> None:
    """Quiet rounds end at the first look; with scattered ones nearly all are used."""
    mean = {name: sum(each.rounds for each in experiments(name)) / EXPERIMENTS for name in STEADY}
    assert mean["independent, 3 %"] < 10 < 15 < mean["independent, 8 %"] < 30 < mean["independent, 15 %"]


def test_a_share_has_the_grade_of_its_limit() -> None:
    """A up to 5 %, B up to 10 %, C up to 20 %, D beyond."""
    assert [grade(each) for each in (0, 0.05, 0.0501, 0.1, 0.11, 0.2, 0.21, float("inf"))] == [*"AABBCCDD"]
