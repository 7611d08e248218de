"""Of several laps only what happens within one is a trend, or makes neighbouring rounds alike."""

from __future__ import annotations

from math import exp, sqrt
from random import Random

import pytest

from storeproof.stats.autocorrelation import autocorrelation, split
from storeproof.stats.intervals import estimate
from storeproof.stats.trend import trend

EXPERIMENTS = 500


def laps_of(seed: int, *, slope: float = 0.0) -> list[float]:
    """Two of sixteen rounds, of which the second is a tenth slower; `slope`: of the logarithm, from round to round."""
    drawn = Random(seed)
    return [exp(drawn.gauss(0, 0.03) - 0.1 * number + slope * place) for number in range(2) for place in range(16)]


def test_rounds_are_those_of_their_pass() -> None:
    """Without laps, all are of one."""
    assert split([1.0, 2, 3, 4, 5], [2, 3]) == [[1, 2], [3, 4, 5]]
    assert split([1.0, 2, 3], []) == [[1, 2, 3]]


def test_a_lap_that_is_slower_is_no_drift() -> None:
    """In no more than 6 of 100; as rounds of one lap nearly all would be called drifting."""
    alarms = sum(trend(laps_of(seed), [16, 16]).drifting for seed in range(EXPERIMENTS))
    assert alarms <= 0.06 * EXPERIMENTS, f"{alarms} of {EXPERIMENTS}"
    assert sum(trend(laps_of(seed)).drifting for seed in range(50)) > 40


def test_a_store_that_slows_down_in_each_pass_drifts() -> None:
    """By 1 % a round, and after each start again."""
    found = [trend(laps_of(seed, slope=-0.01), [16, 16]) for seed in range(100)]
    assert sum(each.drifting for each in found) > 95
    assert sorted(each.change for each in found)[50] == pytest.approx(-0.01, abs=0.002)


def test_a_lap_that_is_slower_makes_the_interval_wider() -> None:
    """By more than its rounds would make it if they came in any order; that they are alike within their laps is not seen within them."""
    rounds = laps_of(1)
    assert autocorrelation(rounds, [16, 16]) < 0.3 < autocorrelation(rounds)
    found = estimate(rounds)
    assert found.low < exp(-0.1) < exp(0) < found.high
    assert found.half_interval > 1.5 * estimate(Random(1).sample(rounds, len(rounds))).half_interval


@pytest.mark.parametrize(("number", "least", "most"), [(1, 0.6, 0.75), (4, 0.88, 1.0)])
def test_more_laps_cover_what_differs_from_start_to_start(number: int, least: float, most: float) -> None:
    """Servers differ by 4 % after each start, the machine is slower and faster for ten rounds or so by 5 %, and rounds scatter by 5 %."""
    covered = 0
    for seed in range(EXPERIMENTS):
        drawn = Random(f"{number} {seed}")
        rounds = []
        for _ in range(number):
            start, machine = drawn.gauss(0, 0.04), drawn.gauss(0, 0.05)
            for _ in range(32 // number):
                rounds.append(exp(start + machine + drawn.gauss(0, 0.05)))
                machine = 0.85 * machine + drawn.gauss(0, 0.05 * sqrt(1 - 0.85**2))
        found = estimate(rounds)
        covered += found.low <= 1 <= found.high
    assert least < covered / EXPERIMENTS < most
