"""The noise floor of a kind of workload, from the scatter of the rounds of its numbers."""

from __future__ import annotations

import random
from math import exp, log, pi, sqrt
from statistics import median
from typing import Any

import pytest

from storeproof.result.measurement import Measurement, RoundNumbers
from storeproof.result.ratios.noise import KindNoise, kind_of, noise_of_kinds
from tests.report.sample import DRIFTING
from tests.result.records import measured


def _number(*rates: float, **changed: Any) -> Measurement:
    rounds = [RoundNumbers(seconds=1, operations=1, throughput=each, errors=0, misses=0) for each in rates]
    return measured().model_copy(update={"rounds": rounds, "kind": "scan", **changed})


def test_the_scatter_is_pooled_around_the_rate_of_each_number() -> None:
    """Two numbers that are a thousand apart scatter by as much as one of them: the difference between them is no noise."""
    up, down = exp(0.1), exp(-0.1)
    slow, fast = _number(100 * up, 100 * down), _number(1e5 * up, 1e5 * down, 1e5)
    (found,) = noise_of_kinds([slow, fast]).values()
    assert (found.kind, found.measurements, found.fewest) == ("scan", 2, 2)
    assert found.deviation == pytest.approx(sqrt((2 * 0.1**2 + 2 * 0.1**2) / 3))
    assert found.floor == found.factor(2) > found.factor(8)


def test_each_kind_has_its_own() -> None:
    """A result of an older edition has no kinds: each workload is its own."""
    found = noise_of_kinds([_number(1, 2), _number(1, 1.1, kind="mixed"), _number(1, 3, kind="")])
    assert list(found) == ["scan", "mixed", "single-get"]
    assert found["scan"].deviation > found["mixed"].deviation
    assert kind_of(_number(1, kind="")) == "single-get"


@pytest.mark.parametrize(
    "left_out",
    [{"trend": DRIFTING}, {"invalid": ["errors"]}, {"rounds": []}, {"rounds": _number(1).rounds}, {"rounds": _number(1, 0).rounds}],
)
def test_what_has_no_one_rate_does_not_count(left_out: dict[str, Any]) -> None:
    """A number that drifts or is invalid, one of a single round, and one with a round without an answer."""
    assert noise_of_kinds([_number(1, 9).model_copy(update=left_out)]) == {}


def test_two_medians_of_the_same_thing_are_within_it_in_19_of_20_cases() -> None:
    """Drawn from a log-normal distribution, with a fixed seed; of an even number of rounds a median scatters a little less."""
    drawn = random.Random(7)
    for rounds in (8, 9, 32):
        floor = KindNoise("scan", 0.1, 1, rounds).factor(rounds)
        assert log(floor) == pytest.approx(1.96 * 0.1 * sqrt(pi / rounds))
        medians = [median(exp(drawn.gauss(0, 0.1)) for _ in range(rounds)) for _ in range(4000)]
        within = sum(max(a / b, b / a) < floor for a, b in zip(medians[::2], medians[1::2], strict=True)) / 2000
        assert 0.94 < within < 0.98


def test_two_runs_agree_within_it_also_where_neighbouring_rounds_are_alike() -> None:
    """What lasts longer than a round is in several of them. By as many independent rounds fewer than 17 in 20 would be within."""
    drawn = random.Random(5)
    within, narrow = [], []
    for _ in range(40):
        one, other = ([_number(*_alike(drawn, 16)) for _ in range(20)] for _run in "ab")
        (noise,) = noise_of_kinds(one).values()
        medians = [[median(r.throughput for r in each.rounds) for each in run] for run in (one, other)]
        apart = [max(a / b, b / a) for a, b in zip(*medians, strict=True)]
        within += [each < noise.factor(16) for each in apart]
        narrow += [each < noise.factor(16, same_blocks=True) for each in apart]
    assert 0.93 < sum(within) / len(within) < 0.98
    assert sum(narrow) / len(narrow) < 0.85


def test_independent_rounds_are_not_taken_for_alike() -> None:
    """Nor too few of them."""
    drawn = random.Random(5)
    for rounds in (3, 8, 32):
        (noise,) = noise_of_kinds(_number(*(exp(drawn.gauss(0, 0.05)) for _ in range(rounds))) for _ in range(30)).values()
        assert noise.inflation == 1.0


def _alike(drawn: random.Random, count: int) -> list[float]:
    """Rates with an autocorrelation of 0.5, which scatter by 5 %."""
    last, found = drawn.gauss(0, 0.05), []
    for _ in range(count):
        found.append(exp(last))
        last = 0.5 * last + drawn.gauss(0, 0.05 * sqrt(0.75))
    return found


ROUNDS, MACHINE, START = 0.05, 0.06, 0.04
STORES, WORKLOADS = ("a", "b", "c", "d"), range(25)


def _run(drawn: random.Random, laps: int) -> list[list[Measurement]]:
    """By workload the numbers of four stores. In each lap the machine is faster or slower for all stores of a workload, and each server
    is after each start; the rate of every number is 100."""
    found = []
    for workload in WORKLOADS:
        machine = [drawn.gauss(0, MACHINE) for _ in range(laps)]
        starts = [[shared + drawn.gauss(0, START) for shared in machine] for _ in STORES]
        rates = [[100 * exp(start + drawn.gauss(0, ROUNDS)) for start in each for _ in range(16)] for each in starts]
        found.append([_number(*each, workload=f"w{workload}", laps=[16] * laps) for each in rates])
    return found


def test_laps_tell_the_machine_from_the_starts_of_a_server() -> None:
    """The numbers of four stores in turns share what the machine did, and nothing of how each server started."""
    (noise,) = noise_of_kinds(each for of_workload in _run(random.Random(3), 2) for each in of_workload).values()
    assert (noise.fewest, noise.laps) == (32, 2)
    assert noise.deviation == pytest.approx(ROUNDS, rel=0.1)
    assert noise.between == pytest.approx(sqrt(MACHINE**2 + START**2), rel=0.15)
    assert noise.between_starts == pytest.approx(START, rel=0.15)
    assert noise.floor == noise.factor(32, 2, same_blocks=True) < noise.factor(32, 2) < noise.factor(32, 1)


def test_a_store_alone_cannot_tell_them_apart() -> None:
    """Both are noise then, also of its ratios with itself."""
    (noise,) = noise_of_kinds(of_workload[0] for of_workload in _run(random.Random(3), 2)).values()
    assert noise.between == noise.between_starts == pytest.approx(sqrt(MACHINE**2 + START**2), rel=0.3)


def test_one_lap_knows_of_neither() -> None:
    """Also where all rounds are of one lap and say so."""
    (noise,) = noise_of_kinds(each for of_workload in _run(random.Random(3), 1) for each in of_workload).values()
    assert (noise.between, noise.between_starts) == (None, None)
    assert noise.factor(32, 1) == noise.factor(32, 1, same_blocks=True)


@pytest.mark.slow
def test_two_runs_of_several_laps_agree_within_it_in_19_of_20_cases() -> None:
    """Numbers of the same thing, and ratios of two stores; by the noise of one lap fewer than 7 of 10 numbers would."""
    drawn = random.Random(11)
    within, narrow, ratios = [], [], []
    for _ in range(20):
        one, other = _run(drawn, 2), _run(drawn, 2)
        (noise,) = noise_of_kinds(each for of_workload in one for each in of_workload).values()
        medians = [[[median(r.throughput for r in each.rounds) for each in of_workload] for of_workload in run] for run in (one, other)]
        for a, b in zip(*medians, strict=True):
            apart = [abs(log(x / y)) for x, y in zip(a, b, strict=True)]
            within += [each < log(noise.factor(32, 2)) for each in apart]
            narrow += [each < log(KindNoise("scan", noise.deviation, 1, 32).floor) for each in apart]
            ratios.append(abs(log(a[0] / a[1])) < log(noise.factor(32, 2, same_blocks=True)))
    assert 0.93 < sum(within) / len(within) < 0.98
    assert sum(narrow) / len(narrow) < 0.7
    assert 0.93 < sum(ratios) / len(ratios) < 0.98
