"""Medians, intervals and percentiles, against values known from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from math import exp, log
from random import Random
from typing import Any

import numpy as np
import pytest

from storeproof.stats.intervals import bootstrap, estimate, percentile, student
from storeproof.stats.latency import new_histogram, record_all


def test_three_rounds_by_hand() -> None:
    """Logs 4, 5, 6: mean 5, s 1, t(2) = 4.303, so 5 ± 4.303 / √3."""
    found = estimate([exp(4), exp(5), exp(6)])
    assert found.median == pytest.approx(exp(5))
    assert log(found.low) == pytest.approx(5 - 4.303 / 3**0.5, abs=1e-3)
    assert log(found.high) == pytest.approx(5 + 4.303 / 3**0.5, abs=1e-3)


@pytest.mark.parametrize(("freedom", "point"), [(1, 12.706), (2, 4.303), (8, 2.306), (15, 2.131), (30, 2.042), (100, 1.984)])
def test_student_s_points(freedom: int, point: float) -> None:
    """As the NIST/SEMATECH e-Handbook of Statistical Methods tabulates them, 1.3.6.7.2."""
    assert student(freedom) == pytest.approx(point, abs=0.0005)


def test_a_command_does_not_wait_for_scipy() -> None:
    """It serves the tests alone, and takes longer to import than all of ours."""
    told = subprocess.run(
        [sys.executable, "-c", "import sys, storeproof.cli, storeproof.report.html, storeproof.plugin; print('scipy' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "False"


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Of 1000 experiments with five log-normal rounds about 950 intervals hold the true median."""
    random = Random(5)
    held = 0
    for _ in range(1000):
        found = estimate([random.lognormvariate(0, 0.2) for _ in range(5)])
        held += found.low <= 1 <= found.high
    assert 930 <= held <= 975


def test_the_interval_of_eight_rounds_by_hand() -> None:
    """[x1, x8] misses in 2 of 256, [x2, x7] in 18 of 256; 2 % lies 0.04 of the way from the one to the other, after the interpolation."""
    share = (0.02 - 2 / 256) / (16 / 256)
    inwards = 7 * share / (1 + 6 * share)
    found = estimate([103.0, 100, 102, 99, 104, 98, 101, 97])
    assert found.low == pytest.approx(97 + inwards)
    assert found.high == pytest.approx(104 - inwards)
    assert found.median == 100.5


def test_an_outlier_does_not_widen_the_interval_of_many_rounds() -> None:
    """It is one rank, however far out it is."""
    rounds = [98.0, 102, 99, 101, 100, 103, 97, 101, 99, 100, 98, 102, 100, 99, 101, 100]
    assert estimate([*rounds[:-1], 1.0]).high == pytest.approx(estimate(rounds).high, rel=0.01)
    assert estimate([*rounds[:-1], 1.0]).low == pytest.approx(estimate(rounds).low, rel=0.01)


def test_rounds_that_follow_each_other_tell_less() -> None:
    """The same values in the order of two levels have a wider interval than mixed up."""
    mixed = [100.0, 110] * 8
    assert estimate(sorted(mixed)).half_interval > 1.5 * estimate(mixed).half_interval


def test_one_round_has_no_interval() -> None:
    """It is shown as a point."""
    found = estimate([5.0])
    assert (found.low, found.median, found.high) == (5, 5, 5)


def test_a_round_without_a_rate_is_refused() -> None:
    """A logarithm of nothing would hide it."""
    with pytest.raises(ValueError, match="positive"):
        estimate([1.0, 0.0])
    with pytest.raises(ValueError, match="at least one"):
        estimate([])


def test_percentiles_need_a_hundred_samples_beyond() -> None:
    """p99 of 9 999 samples is not told, of 10 000 it is."""
    from array import array

    histogram = new_histogram()
    record_all(histogram, array("q", range(1000, 10_999 * 1000, 1000)))
    assert histogram.get_total_count() == 10_998
    assert percentile(histogram, 50) == pytest.approx(5500, rel=0.002)
    assert percentile(histogram, 99) == pytest.approx(10_888, rel=0.002)
    assert percentile(histogram, 99.9) is None
    few = new_histogram()
    record_all(few, array("q", [1000] * 9_999))
    assert percentile(few, 99) is None


@pytest.mark.parametrize("rounds", [10, 16, 64])
def test_the_bootstrap_is_that_of_scipy(rounds: int) -> None:
    """The same draws, so the same interval but for the last digits."""
    from scipy import stats  # here, since it takes a second to import

    random = Random(rounds)
    one, other = ([random.lognormvariate(0, 0.2) for _ in range(count)] for count in (rounds, rounds + 3))

    def medians(a: Any, b: Any, axis: int) -> Any:
        return np.median(a, axis=axis) / np.median(b, axis=axis)

    theirs = stats.bootstrap((one, other), medians, n_resamples=5000, method="percentile", rng=7).confidence_interval
    assert bootstrap(medians, one, other, seed=7) == pytest.approx((theirs.low, theirs.high), rel=1e-12)
