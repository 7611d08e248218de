"""Open loop: requests are due when they are due, whatever became of the ones before."""

from __future__ import annotations

from itertools import accumulate, islice
from time import monotonic_ns

import pytest

from storeproof.load.arrivals import SECOND, Schedule, exponential


def test_gaps_are_exponential_with_the_rate_that_is_asked_for() -> None:
    """Their mean is 1 / rate, and 1/e of them are longer than that."""
    gaps = list(islice(exponential(1000, "1"), 100_000))
    assert sum(gaps) / len(gaps) == pytest.approx(SECOND / 1000, rel=0.02)
    longer = sum(gap > SECOND / 1000 for gap in gaps) / len(gaps)
    assert longer == pytest.approx(0.3679, abs=0.01)  # 1/e of them are longer than the mean


def test_a_seed_is_a_schedule() -> None:
    """The same seed gives the same gaps, another one others."""
    first, again, other = (list(islice(exponential(50, seed), 20)) for seed in ("1", "1", "2"))
    assert first == again != other


def test_what_is_due_is_taken_in_order_until_the_deadline() -> None:
    """Each request once, and none after the deadline."""
    schedule, begun = Schedule(1000, "7", 5, 0.1), 5
    taken = list(iter(schedule.take, None))
    expected = [begun + each for each in accumulate(islice(exponential(1000, "7"), 300)) if begun + each < schedule.deadline]
    assert taken == expected
    assert schedule.take() is None
    assert schedule.missed_sends(schedule.deadline) == 0


def test_what_nobody_sent_in_time_is_told() -> None:
    """Requests that were due and not taken, or given up, count as missed sends."""
    begun = monotonic_ns()
    schedule = Schedule(1000, "7", begun, 0.1)
    assert schedule.take()
    assert schedule.take()
    schedule.give_up()
    due = sum(1 for each in accumulate(islice(exponential(1000, "7"), 300)) if each < 0.1 * SECOND)
    assert schedule.missed_sends(schedule.deadline) == due - 1
