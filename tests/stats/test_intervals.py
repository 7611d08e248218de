"""Medians, intervals and percentiles, against values known from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from math import exp, log
from random import Random

import pytest

from storeproof.stats.intervals import estimate, percentile, student
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
    """It is imported where an interval is computed: it takes longer to import than all of ours."""
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


def test_ten_rounds_are_bootstrapped() -> None:
    """The interval lies within the rounds, holds the median, and is the same for the same seed."""
    rounds = [float(each) for each in (98, 99, 100, 100, 101, 101, 102, 103, 104, 150)]
    found = estimate(rounds, seed=1)
    assert found == estimate(rounds, seed=1)
    assert 98 < found.low <= 101 <= found.high < 150
    assert found.median == 101


def test_one_round_has_no_interval() -> None:
    """It is shown as a point; the gate on spread refuses it."""
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
