"""The times of a run: when it was, how long it took, and how long what happened in it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.evidence import StoreEvidence
from storeproof.printable import in_one_line
from storeproof.result.model import RunInfo, StoreResult

_FIRST: Final = date(2026, 11, 1)
"""There was no storeproof before; a claim in a draft is not older."""
_DAY: Final = timedelta(days=1)
"""By which the clocks of two machines, and the days of two time zones, may differ."""
_ROUNDED: Final = 1.0
"""Seconds by which rounded times may differ."""


def check_times(run: RunInfo, store: StoreResult, frozen: date | None, now: datetime | None = None) -> None:
    """Raises `ClaimRefused`: it is no run that can have been, or its cases and rounds took longer than the run.

    Args:
        frozen: the day on which the edition was; None for a draft.
        now: the time of the verification, with a time zone; by default this machine's.
    """
    began = _time_of(run)
    now = now or datetime.now(UTC)
    if began.date() < (frozen or _FIRST) - _DAY:
        since = f"its edition was frozen on {frozen}" if frozen else f"there was no storeproof before {_FIRST}"
        raise ClaimRefused(Reason.TIME, f"it started at {run.started}, and {since}")
    try:
        ended = began + timedelta(seconds=run.seconds)
    except OverflowError:
        raise ClaimRefused(Reason.TIME, f"it took {run.seconds:g} s, longer than there are years") from None
    if ended > now + _DAY:
        raise ClaimRefused(Reason.TIME, f"it started at {run.started} and took {run.seconds:g} s, and here it is {now:%Y-%m-%dT%H:%M:%S%z}")
    for each in store.outcomes:
        if each.seconds < 0:
            raise ClaimRefused(Reason.TIME, f"{each.id} took {each.seconds:g} s")
    cases = sum(each.seconds for each in store.outcomes)
    rounds = sum(each.seconds for measured in store.measurements for each in measured.rounds)
    for took, what in ((cases, "its cases"), (rounds, "the rounds of its numbers")):
        if took > run.seconds + _ROUNDED:
            raise ClaimRefused(Reason.TIME, f"it took {run.seconds:g} s, and {what} {took:.1f} s together")


class CaseTimes:
    """How long what happened in the histories of each case took, against how long the case took."""

    def __init__(self, store: StoreResult) -> None:
        self._cases: Mapping[str, float] = {each.id: each.seconds for each in store.outcomes}
        self._seen = Counter[str]()

    def add(self, part: StoreEvidence) -> None:
        """Add the history of one store. Raises `ClaimRefused`: the case was over before."""
        last = 0
        for each in part.rounds:
            last = max(last, each.began, each.struck, each.load_ended, each.unstartable or 0, each.audit.ended if each.audit else 0)
        if part.transactions is not None and part.transactions.sent:
            last = part.transactions.sent[-1].invoked
        self._seen[part.case] += last
        took, seconds = self._seen[part.case] / 1e9, self._cases.get(part.case, 0.0)
        if took > seconds + _ROUNDED:
            raise ClaimRefused(Reason.TIME, f"the histories of {part.case} have {took:.1f} s, and the case took {seconds:g} s")


def _time_of(run: RunInfo) -> datetime:
    """When the run started. Raises `ClaimRefused`: at no time, or not written as a run writes it."""
    try:
        began = datetime.fromisoformat(run.started)
    except ValueError:
        raise ClaimRefused(Reason.RUN, f"it started at {in_one_line(run.started, 40)}, which is no time") from None
    if began.tzinfo is None:
        raise ClaimRefused(Reason.RUN, f"it started at {run.started}, without a time zone")
    if began.isoformat(timespec="seconds") != run.started or began.utcoffset():
        raise ClaimRefused(Reason.TIME, f"it started at {in_one_line(run.started, 40)}; a run writes that in UTC, to the second")
    return began
