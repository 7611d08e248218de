"""Of several passes only what happens within one is a trend, or makes neighbouring rounds alike."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from storeproof.stats.autocorrelation import autocorrelation
from storeproof.stats.intervals import estimate
from storeproof.stats.passes import split
from storeproof.stats.trend import trend

EXPERIMENTS = 500


def passes_of(seed: int, *, slope: float = 0.0) -> list[float]:
    """Two of sixteen rounds, of which the second is a tenth slower; `slope`: of the logarithm, from round to round."""
    drawn = Random(seed)
    return [exp(drawn.gauss(0, 0.03) - 0.1 * number + slope * place) for number in range(2) for place in range(16)]


def test_rounds_are_those_of_their_pass() -> None:
    """Without passes, all are of one."""
    assert split([1.0, 2, 3, 4, 5], [2, 3]) == [[1, 2], [3, 4, 5]]
    assert split([1.0, 2, 3], []) == [[1, 2, 3]]


def test_a_pass_that_is_slower_is_no_drift() -> None:
    """In no more than 6 of 100; as rounds of one pass nearly all would be called drifting."""
    alarms = sum(trend(passes_of(seed), [16, 16]).drifting for seed in range(EXPERIMENTS))
    assert alarms <= 0.06 * EXPERIMENTS, f"{alarms} of {EXPERIMENTS}"
    assert sum(trend(passes_of(seed)).drifting for seed in range(50)) > 40


def test_a_store_that_slows_down_in_each_pass_drifts() -> None:
    """By 1 % a round, and after each start again."""
    found = [trend(passes_of(seed, slope=-0.01), [16, 16]) for seed in range(100)]
    assert sum(each.drifting for each in found) > 95
    assert sorted(each.change for each in found)[50] == pytest.approx(-0.01, abs=0.002)


def test_a_pass_that_is_slower_makes_no_rounds_alike() -> None:
    """The interval reaches from one pass to the other, and is not widened beyond that."""
    rounds = passes_of(1)
    assert autocorrelation(rounds, [16, 16]) < 0.3 < autocorrelation(rounds)
    found = estimate(rounds, [16, 16])
    assert found.low < exp(-0.08) < exp(-0.02) < found.high
    assert found.half_interval < estimate(rounds).half_interval
    assert 0.8 < found.low < found.high < 1.1
