"""The times of a run: when it can have been, by whose clock, and what fits into it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.times import check_times
from tests.conformance.published import published

FROZEN = date(2026, 11, 26)
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def refused(started: str, *, frozen: date | None = FROZEN, seconds: float = 96.1, now: datetime = NOW) -> str:
    """Why a run of these times is refused; empty where it is not."""
    result = published()
    try:
        check_times(result.run.model_copy(update={"started": started, "seconds": seconds}), result.stores[0], frozen, now)
    except ClaimRefused as reason:
        return str(reason)
    return ""


def test_the_published_claim_was_when_it_says() -> None:
    """By the clock of the machine that reads it."""
    result = published()
    check_times(result.run, result.stores[0], FROZEN)


@pytest.mark.parametrize("started", ["2026-11-25T00:00:00+00:00", "2026-11-30T20:00:00+00:00"])
def test_clocks_may_differ_by_a_day(started: str) -> None:
    """And so may the days of two time zones."""
    assert refused(started) == ""


@pytest.mark.parametrize(
    ("started", "says"),
    [
        ("2026-11-24T23:59:59+00:00", "time: it started at 2026-11-24T23:59:59+00:00, and its edition was frozen on 2026-11-26"),
        ("2026-12-01T00:00:00+00:00", "time: it started at 2026-12-01T00:00:00+00:00 and took 96.1 s, and here it is 2026-11-30"),
        ("0001-01-01T00:00:00+14:00", "time: it started at 0001-01-01T00:00:00+14:00; a run writes that in UTC, to the second"),
        ("2026-11-27T00:00:00.5+00:00", "a run writes that in UTC, to the second"),
        ("2026-11-27 00:00:00+00:00", "a run writes that in UTC, to the second"),
        ("2026-11-27", "without a time zone"),
        ("yesterday", "which is no time"),
    ],
)
def test_a_time_that_cannot_be_is_refused(started: str, says: str) -> None:
    """Before its edition, in the future, or not as a run writes it."""
    assert says in refused(started)


def test_a_draft_is_no_older_than_the_project() -> None:
    """It has no day of its own."""
    assert refused("2026-11-02T00:00:00+00:00", frozen=None) == ""
    assert "there was no storeproof before 2026-11-01" in refused("2026-10-30T00:00:00+00:00", frozen=None)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (60.0, "it took 60 s, and its cases "),
        (-1.0, "it took -1 s, and its cases "),
        (1e300, "longer than there are years"),
        (timedelta(days=9).total_seconds(), "and here it is 2026-11-30"),
    ],
)
def test_what_a_run_did_fits_into_it(seconds: float, says: str) -> None:
    """And the run into the time until it is verified."""
    assert says in refused("2026-11-27T00:00:00+00:00", seconds=seconds)
