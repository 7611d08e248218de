"""The check of counters."""

from __future__ import annotations

from itertools import combinations

import pytest

from storeproof.check import Anomaly, judge_counter
from tests.check.histories import history


def test_acknowledged_increments_are_all_in_the_sum() -> None:
    """One less is a lost increment, one more was counted twice."""
    adds = history("add +1 |-ok|", "add +1 |-ok|")
    assert judge_counter(adds, 2).anomaly is Anomaly.OK
    assert judge_counter(adds, 1).anomaly is Anomaly.MISCOUNTED
    assert judge_counter(adds, 3).anomaly is Anomaly.MISCOUNTED


def test_an_unknown_increment_is_in_the_sum_or_not() -> None:
    """Both sums are right, nothing beyond."""
    adds = history("add +1 |-ok|", "add +2 |-?")
    assert [value for value in range(-1, 6) if judge_counter(adds, value).anomaly is Anomaly.OK] == [1, 3]


def test_unknown_increments_count_each_on_its_own() -> None:
    """+5 for certain, -2 and +3 perhaps: 4 is within the bounds and still no possible sum."""
    adds = history("add +5 |-ok|", "add -2 |-?", "add +3 |-?")
    assert [value for value in range(10) if judge_counter(adds, value).anomaly is Anomaly.OK] == [3, 5, 6, 8]


def test_negative_increments_bound_from_below() -> None:
    """An acknowledged decrement that is missing makes the counter too high."""
    adds = history("add +1 |-ok|", "add -4 |-ok|")
    assert judge_counter(adds, -3).anomaly is Anomaly.OK
    assert judge_counter(adds, 1).anomaly is Anomaly.MISCOUNTED


def test_a_refused_increment_is_not_in_the_sum() -> None:
    """It definitely did not happen."""
    adds = history("add +1 |-ok|", "add +7 |-no|")
    assert judge_counter(adds, 1).anomaly is Anomaly.OK
    assert judge_counter(adds, 8).anomaly is Anomaly.MISCOUNTED


def test_an_absent_counter_is_zero() -> None:
    """It starts from zero, so absence is right where zero is."""
    assert judge_counter(history("add +1 |-ok|", "add -1 |-ok|"), None).anomaly is Anomaly.OK
    assert judge_counter(history("add +1 |-?"), None).anomaly is Anomaly.OK
    finding = judge_counter(history("add +1 |-ok|"), None)
    assert finding.anomaly is Anomaly.MISCOUNTED
    assert len(finding.missing) == 1


def test_a_wrong_sum_does_not_say_which_increment_it_lacks() -> None:
    """So that no window is made up for it."""
    assert judge_counter(history("add +1 |-ok|", "add +1 |-ok|"), 1).missing == ()


def test_the_finding_names_what_would_have_been_right() -> None:
    """Both the value and its bounds."""
    assert "found 7, acknowledged 1 plus unknown ones, 1 to 3" in str(judge_counter(history("add +1 |-ok|", "add +2 |-?"), 7))


def test_puts_are_not_judged_as_a_counter() -> None:
    """They have no amount."""
    with pytest.raises(ValueError, match="judged by its increments"):
        judge_counter(history("put a |-ok|"), 0)


def test_a_subset_is_found_among_equal_and_different_amounts() -> None:
    """As by trying all subsets."""
    unknown = (1, 1, 1, 5, 5, -2, -2, -7)
    adds = history("add +1 |-ok|", *(f"add {amount:+d} |-?" for amount in unknown))
    every = {1 + sum(some) for size in range(len(unknown) + 1) for some in combinations(unknown, size)}
    assert {value for value in range(-30, 40) if judge_counter(adds, value).anomaly is Anomaly.OK} == every


def test_many_unknown_increments_are_judged_at_once() -> None:
    """As many as a forged history may have, and more than could be tried one by one."""
    adds = history(*(f"add {amount:+d} |-?" for amount in (3, -5, 7) for _ in range(300)))
    assert judge_counter(adds, 3 * 300 + 7 * 300).anomaly is Anomaly.OK
    assert judge_counter(adds, 3 * 300 + 7 * 300 - 1).anomaly is Anomaly.MISCOUNTED
    assert judge_counter(adds, 3 * 300 + 7 * 300 + 1).anomaly is Anomaly.MISCOUNTED
