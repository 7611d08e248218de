"""The noise floor of a kind of workload, from the scatter of the rounds of its numbers."""

from __future__ import annotations

import random
from math import exp, log, pi, sqrt
from statistics import median
from typing import Any

import pytest

from storeproof.result.measurement import Measurement, Round
from storeproof.result.ratios.noise import KindNoise, kind_of, noise_of_kinds
from tests.report.sample import DRIFTING
from tests.result.records import measured


def _number(*rates: float, **changed: Any) -> Measurement:
    rounds = [Round(seconds=1, operations=1, throughput=each, errors=0, misses=0) for each in rates]
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
