"""What is told of an outage, on requests written by hand: one each hundredth of a second, and a fault at the second second."""

from __future__ import annotations

import pytest

from storeproof.stats.unavailability import BIN, SECOND, Proportion, Timed, Watched, bins, figures, silence, steady

MS = SECOND // 1000
USUAL = Proportion(200, 1000, 1000, 1000)
BEGAN, STRUCK, ENDED = 0, 2 * SECOND, 6 * SECOND


def answered(due: int, response: int, *, sent: int | None = None) -> Timed:
    """Sent when it was due, where nothing else is said."""
    return Timed(due, due, due if sent is None else sent, due + response, ok=True)


def failed(due: int, after: int) -> Timed:
    """An error after so long."""
    return Timed(due, due, due, due + after, ok=False)


def missed(due: int) -> Timed:
    """Its client waits until the end."""
    return Timed(due, due, None, None, ok=False)


def watched(*requests: Timed, down: int = STRUCK) -> Watched:
    """From 0 to 6 s, in an order that says nothing."""
    return Watched(requests[::-1], BEGAN, STRUCK, down, ENDED)


def every(since: int, until: int, response: int) -> list[Timed]:
    """A request each 10 ms, all as fast."""
    return [answered(due, response) for due in range(since, until, 10 * MS)]


def stalled(until: int, response: int = 2 * MS) -> Watched:
    """What was due from the fault on is answered when it is over; all else at once."""
    waiting = [answered(due, until + 5 * MS - due, sent=until) for due in range(STRUCK, until, 10 * MS)]
    return watched(*every(BEGAN, STRUCK, response), *waiting, *every(until, ENDED, response), down=until - MS)


def test_a_stall_is_in_the_responses_of_all_that_was_due_in_it() -> None:
    """Not in that of one request a client, which is all that clients notice that wait before they count."""
    found = figures(stalled(STRUCK + SECOND))
    assert found.during.requests == pytest.approx(100, abs=1)
    assert found.during.p50 == pytest.approx(505_000, rel=0.03)
    assert found.during.p99 == pytest.approx(995_000, rel=0.03)
    assert (found.before.p50, found.before.p99) == (2000, 2000)
    assert found.after.p99 == pytest.approx(2000)
    assert (found.errors, found.missed_sends) == (0, 0)


def test_the_time_without_an_answer_is_from_the_last_one_to_the_next() -> None:
    """Not from the fault to the restart."""
    found = figures(stalled(STRUCK + SECOND))
    # The last one before the fault was due 10 ms before it and took 2; the first one after it was due with its end.
    assert found.unavailable_seconds == pytest.approx(1.010, abs=0.003)
    assert found.back == STRUCK + SECOND + 2 * MS


def test_an_outage_that_is_shorter_than_a_lull_is_not_taken_for_it() -> None:
    """Requests come when they come: now and then none is due for a while."""
    quiet = [*every(BEGAN, SECOND, MS), *every(STRUCK - 100 * MS, STRUCK, MS)]
    after = [*every(STRUCK + 20 * MS, STRUCK + 400 * MS, MS), *every(STRUCK + SECOND, ENDED, MS)]
    assert silence(watched(*quiet, *after, down=STRUCK + 5 * MS)) == (STRUCK - 9 * MS, STRUCK + 21 * MS)


def test_a_store_that_is_asked_to_stop_answers_until_it_has() -> None:
    """The outage begins later than the fault."""
    going = every(BEGAN, STRUCK + 300 * MS, MS)
    found = figures(watched(*going, *every(STRUCK + SECOND, ENDED, MS), down=STRUCK + 500 * MS))
    assert found.unavailable_seconds == pytest.approx(0.710)
    assert found.during.requests == 31, "those of the 300 ms, and the one whose answer ended it"


def test_who_never_comes_back_is_silent_until_the_end() -> None:
    """There is no time of recovery, and what was never sent is counted."""
    found = figures(watched(*every(BEGAN, STRUCK, MS), failed(STRUCK, MS), *(missed(due) for due in range(STRUCK + MS, ENDED, 10 * MS))))
    assert found.unavailable_seconds == pytest.approx(4.009)
    assert found.degraded_seconds is None
    assert found.errors == 1
    assert found.missed_sends == pytest.approx(390, abs=1), "those of the last tenth of a second had no time to be sent"
    assert found.during.p99 is None


def test_it_is_steady_from_when_what_was_due_then_was_answered_as_before() -> None:
    """Not from the first answer on."""
    found = figures(stalled(STRUCK + SECOND))
    assert found.degraded_seconds == pytest.approx(1.0, abs=0.05)
    assert found.degraded_seconds is not None
    assert found.degraded_seconds >= 1.0, "not while nothing was answered, though most of that window's requests were due later"


def test_a_slow_time_after_the_outage_is_waited_for() -> None:
    """Twice the median is calm, and more is not, until it is over."""
    until = STRUCK + 100 * MS
    slow = [*every(BEGAN, STRUCK, 2 * MS), *every(until, until + SECOND, 5 * MS), *every(until + SECOND, ENDED, 4 * MS)]
    found = figures(watched(*slow))
    assert found.unavailable_seconds < 0.2
    assert found.degraded_seconds == pytest.approx(1.1, abs=0.11), "a window with a slow half is calm"


def test_a_second_that_is_interrupted_is_no_second() -> None:
    """Calm for 0.9 s, then slow for 0.3, then calm."""
    requests = [
        *every(BEGAN, STRUCK + 900 * MS, MS),
        *every(STRUCK + 900 * MS, STRUCK + 1200 * MS, 50 * MS),
        *every(STRUCK + 1200 * MS, ENDED, MS),
    ]
    found = steady(watched(*requests), STRUCK, USUAL)
    assert found == pytest.approx(1.2, abs=0.11)


def test_errors_are_no_calm() -> None:
    """Quick as they are: two of three requests fail at once."""
    after = [(answered if number % 3 == 0 else failed)(STRUCK + number * 10 * MS, MS) for number in range(400)]
    found = figures(watched(*every(BEGAN, STRUCK, MS), *after))
    assert found.degraded_seconds is None
    assert found.errors == 266
    assert found.unavailable_seconds < 0.1


def test_what_cannot_be_seen_is_not_told() -> None:
    """Less than a second after the fault, or nothing before it."""
    short = Watched(every(BEGAN, STRUCK + 900 * MS, MS), BEGAN, STRUCK, STRUCK, STRUCK + 900 * MS)
    assert figures(short).degraded_seconds is None
    assert figures(watched(*every(STRUCK, ENDED, MS))).degraded_seconds is None


def test_a_small_difference_of_small_times_is_none() -> None:
    """0.1 ms before and 1 ms after: clients in one interpreter do not tell these apart on a busy machine."""
    assert steady(watched(*every(BEGAN, STRUCK, MS // 10), *every(STRUCK, ENDED, MS)), STRUCK, Proportion(200, 100, 100, 100)) == 0


def test_what_was_uneven_before_need_not_be_even_afterwards() -> None:
    """One request in fifty took 20 ms before: a window of 15 ms is nothing new."""
    uneven = [answered(due, 20 * MS if due % (500 * MS) == 0 else 2 * MS) for due in range(BEGAN, STRUCK, 10 * MS)]
    assert figures(watched(*uneven, *every(STRUCK, ENDED, 15 * MS))).degraded_seconds == pytest.approx(0, abs=0.05)
    assert figures(watched(*every(BEGAN, STRUCK, 2 * MS), *every(STRUCK, ENDED, 15 * MS))).degraded_seconds is None


def test_our_own_lateness_is_that_of_clients_that_were_free() -> None:
    """Waiting for the store is no lateness of the load generator."""
    late = Timed(10 * MS, 0, 13 * MS, 14 * MS, ok=True)
    queued = Timed(11 * MS, 14 * MS, 14 * MS + 1000, 15 * MS, ok=True)
    assert figures(watched(queued)).schedule_lag_us == 1
    assert figures(watched(queued, late)).schedule_lag_us == 3000
    after = Timed(STRUCK, STRUCK, STRUCK + SECOND, STRUCK + SECOND + MS, ok=True)
    assert figures(watched(queued, after)).schedule_lag_us == 1, "what comes after the fault says nothing of us"


def test_who_does_not_keep_up_before_the_fault_is_overloaded() -> None:
    """The share of requests that were unanswered when it struck."""
    prompt = every(BEGAN, STRUCK, MS)
    assert figures(watched(*prompt)).overload == 0
    waiting = [answered(due, STRUCK + MS - due) for due in range(SECOND, STRUCK - 100 * MS, 10 * MS)]
    assert figures(watched(*every(BEGAN, SECOND, MS), *waiting)).overload == pytest.approx(90 / 190)


def test_answers_are_counted_when_they_come_and_responses_when_they_were_due() -> None:
    """A stall shows in the bins of the requests that waited."""
    found = {each.second: each for each in bins(stalled(STRUCK + SECOND))}
    assert list(found) == [number / 10 for number in range(-20, 40)]
    assert (found[0.2].ok, found[1.0].ok) == (0, 110), "all that had waited, and what was due then"
    assert found[0.2].p50 == pytest.approx(755_000, abs=6000)
    assert found[0.2].most == 805_000
    assert (found[-1.0].ok, found[-1.0].p50, found[-1.0].most) == (10, 2000, 2000)


def test_bins_have_errors_and_none_of_the_parts_at_the_ends() -> None:
    """Only whole tenths of a second are shown."""
    some = watched(failed(STRUCK + 120 * MS, 10 * MS), answered(ENDED - MS, 5 * MS))
    found = bins(Watched(some.requests, STRUCK - 250 * MS, STRUCK, STRUCK, STRUCK + 3 * BIN - 1))
    assert [each.second for each in found] == [-0.2, -0.1, 0.0, 0.1]
    assert [each.errors for each in found] == [0, 0, 0, 1]
    assert {each.p50 for each in found} == {None}
