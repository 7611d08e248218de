"""Ratios hold the truth as often as they say."""

from __future__ import annotations

import random

import pytest

from storeproof.stats.ratio import paired_ratio_of, ratio_of


def test_the_ratio_turned_round_is_the_same_statement() -> None:
    """A/B and B/A have reciprocal medians and intervals."""
    a, b = [900.0, 1000.0, 1200.0], [500.0, 520.0, 610.0, 490.0]
    there, back = ratio_of(a, b), ratio_of(b, a)
    assert there.middle == pytest.approx(1 / back.middle)
    assert there.low == pytest.approx(1 / back.high)
    assert there.high == pytest.approx(1 / back.low)


@pytest.mark.parametrize(("left", "right"), [(5, 5), (3, 3), (3, 10)])
def test_the_interval_holds_the_truth_at_least_95_times_in_100(left: int, right: int) -> None:
    """On 2 000 drawn experiments with a true ratio of one."""
    assert _held(left, right, 2000) >= 0.95


def test_many_rounds_are_bootstrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 300 drawn experiments, with fewer resamples than usual, about 285 hold the true ratio of one; and it is drawn by a seed."""
    monkeypatch.setattr("storeproof.stats.intervals._RESAMPLES", 400)
    assert 0.91 <= _held(12, 15, 300) <= 0.99
    a, b = [float(each) for each in range(100, 112)], [float(each) for each in range(200, 224, 2)]
    assert ratio_of(a, b, 1) == ratio_of(a, b, 1) != ratio_of(a, b, 2)


def test_a_bootstrap_stays_within_the_rounds() -> None:
    """One wild round of ten does not widen it, as it would the logarithms' deviation."""
    a = [100.0, 101, 99, 100, 102, 98, 100, 101, 99, 1000]
    found = ratio_of(a, [50.0] * 10)
    assert 1.9 < found.low <= 2 <= found.high < 2.1


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([1.0, 0.0], [1.0, 2.0])])
def test_what_has_no_ratio(a: list[float], b: list[float]) -> None:
    """One round has no spread, and nothing no logarithm."""
    with pytest.raises(ValueError, match="two at least"):
        ratio_of(a, b)


@pytest.mark.parametrize("blocks", [5, 12])
def test_what_the_machine_did_to_both_cancels_out(blocks: int) -> None:
    """A machine that is half as fast in some blocks says nothing of two stores of which one is 1.2 times as fast."""
    rng = random.Random(9)
    held = 0
    for seed in range(300):
        machine = [rng.choice([500.0, 1000.0]) for _ in range(blocks)]
        a = [1.2 * each * rng.lognormvariate(0, 0.02) for each in machine]
        b = [each * rng.lognormvariate(0, 0.02) for each in machine]
        found = paired_ratio_of(a, b, seed)
        held += found.low <= 1.2 <= found.high
        assert found.high / found.low < 1.3
    assert held / 300 >= 0.9


def test_paired_ratios_turned_round_are_the_same_statement() -> None:
    """Their logarithms only change their sign."""
    a, b = [900.0, 1000.0, 1200.0], [500.0, 520.0, 610.0]
    there, back = paired_ratio_of(a, b), paired_ratio_of(b, a)
    assert (there.middle, there.low) == (pytest.approx(1 / back.middle), pytest.approx(1 / back.high))
    with pytest.raises(ValueError, match="zip"):
        paired_ratio_of(a, b[:2])


def _held(left: int, right: int, experiments: int) -> float:
    """The share of intervals that hold the truth."""
    rng = random.Random(5)
    held = 0
    for _ in range(experiments):
        found = ratio_of([rng.lognormvariate(7, 0.05) for _ in range(left)], [rng.lognormvariate(7, 0.08) for _ in range(right)])
        held += not found.shows_difference
    return held / experiments
