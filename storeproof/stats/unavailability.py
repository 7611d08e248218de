"""What the clients of an open loop saw of an outage: pure functions over the requests that they noted.

All times are nanoseconds of one monotonic clock, and a response time counts from when a request was due: who was kept waiting by the
request before has waited all the same, and what a stuck client did not send is not forgotten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Final

from storeproof.stats.latency import nearest_rank_us

SECOND: Final = 1_000_000_000
BIN: Final = SECOND // 10

STEADY: Final = 2.0
"""Times the median before the fault that a calm window's median may take."""
SMALL: Final = SECOND // 500
"""A window whose median is below this is calm whatever it was before: so much a busy machine does to clients that share an interpreter."""
_WINDOW: Final = SECOND // 5
_STEP: Final = SECOND // 50
_STAYS: Final = SECOND
"""How long it must be calm."""

_UNDER_WAY: Final = SECOND // 10
"""A request that was due so shortly before the fault, or before the end, may be unanswered then."""


@dataclass(frozen=True, slots=True)
class Timed:
    due: int
    free: int
    """When its client had nothing else to do any longer."""
    sent: int | None
    """None where it never was: its client was kept waiting until the end."""
    ended: int | None
    ok: bool

    @property
    def response(self) -> int | None:
        """Nanoseconds from when it was due until its answer; None where it had none."""
        return self.ended - self.due if self.ok and self.ended is not None else None


@dataclass(frozen=True)
class Watched:
    """What was due from `began` to `ended`, by all clients, in any order, with a fault between the two."""

    requests: Sequence[Timed]
    began: int
    struck: int
    down: int
    """A moment at which the store certainly did not answer: just before it was started, or went on."""
    ended: int


@dataclass(frozen=True)
class Proportion:
    """Requests that were due in one part of the time. Percentiles are those of their answers, in microseconds; None without any."""

    requests: int
    p50: float | None
    p99: float | None
    most: float | None


@dataclass(frozen=True)
class Bin:
    """A tenth of a second. Answers and errors are those that came in it; times, in microseconds, those of requests that were due in it."""

    second: float
    """Its begin, from the fault on."""
    ok: int
    errors: int
    p50: float | None
    most: float | None


@dataclass(frozen=True)
class Figures:
    unavailable_seconds: float
    """From the last answer before it was down to the first one after; to the end of the watch where there was none."""
    back: int
    """When that time was over."""
    degraded_seconds: float | None
    """The result of `steady`."""
    errors: int
    missed_sends: int
    """Requests that were due well before the end, and not sent until then."""
    before: Proportion
    during: Proportion
    """From the fault until the store was back."""
    after: Proportion
    schedule_lag_us: float
    """Schedule lag before the fault, 99th percentile in microseconds: the clients' own delay."""
    overload: float
    """The share of the requests before the fault that were not answered by then: who cannot keep up has no time before to compare with."""


def figures(watched: Watched) -> Figures:
    gone, back = silence(watched)
    before = _share(watched, watched.began, watched.struck)
    return Figures(
        unavailable_seconds=(back - gone) / SECOND,
        back=back,
        degraded_seconds=steady(watched, back, before),
        errors=sum(each.sent is not None and not each.ok for each in watched.requests),
        missed_sends=sum(each.sent is None and each.due < watched.ended - _UNDER_WAY for each in watched.requests),
        before=before,
        during=_share(watched, watched.struck, back),
        after=_share(watched, back, watched.ended),
        schedule_lag_us=_lag(watched),
        overload=_overload(watched),
    )


def silence(watched: Watched) -> tuple[int, int]:
    """From when to when no request was answered, around the moment at which the store was down."""
    answers = [each.ended for each in watched.requests if each.ok and each.ended is not None]
    gone = max((each for each in answers if each <= watched.down), default=watched.began)
    return gone, min((each for each in answers if each > watched.down), default=watched.ended)


def steady(watched: Watched, back: int, usual: Proportion) -> float | None:
    """Seconds from the fault until responses were as usual again, and stayed so for a second; None where that was not seen.

    That is the first moment since answers came again (`back`) from which on, for a second, every window of 200 ms is calm: the
    median response of the requests that were due in it is at most twice the `usual` median, or what one request in a hundred took
    before (where the store, or the machine, was as uneven then, a slow window says nothing), or `SMALL`. What had no answer is longer
    than any. It is the requests that were due in the window, also those that wait for the backlog: that is part of the outage.
    """
    if usual.p50 is None or usual.p99 is None:
        return None
    limit = max(STEADY * usual.p50 * 1000, usual.p99 * 1000, SMALL)
    requests = sorted(watched.requests, key=lambda each: each.due)
    due = [each.due for each in requests]

    def calm(start: int) -> bool:
        found = requests[bisect_left(due, start) : bisect_left(due, start + _WINDOW)]
        return bool(found) and median(inf if each.response is None else each.response for each in found) <= limit

    needed = (_STAYS - _WINDOW) // _STEP + 1
    in_a_row = 0
    for start in range(back, watched.ended - _WINDOW + 1, _STEP):
        in_a_row = in_a_row + 1 if calm(start) else 0
        if in_a_row == needed:
            return (start - (needed - 1) * _STEP - watched.struck) / SECOND
    return None


def bins(watched: Watched) -> list[Bin]:
    """The whole tenths of a second, counted from the fault."""
    first, last = -((watched.struck - watched.began) // BIN), (watched.ended - watched.struck) // BIN
    ok, errors = dict.fromkeys(range(first, last), 0), dict.fromkeys(range(first, last), 0)
    responses: dict[int, list[int]] = {number: [] for number in range(first, last)}
    for each in watched.requests:
        came = (each.ended - watched.struck) // BIN if each.ended is not None else None
        if came in ok:
            (ok if each.ok else errors)[came] += 1
        due = (each.due - watched.struck) // BIN
        if each.response is not None and due in responses:
            responses[due].append(each.response)
    return [
        Bin(
            second=number / 10,
            ok=ok[number],
            errors=errors[number],
            p50=nearest_rank_us(responses[number], 0.5),
            most=nearest_rank_us(responses[number], 1.0),
        )
        for number in range(first, last)
    ]


def _share(watched: Watched, since: int, until: int) -> Proportion:
    found = [each for each in watched.requests if since <= each.due < until]
    answers = [each.response for each in found if each.response is not None]
    return Proportion(len(found), nearest_rank_us(answers, 0.5), nearest_rank_us(answers, 0.99), nearest_rank_us(answers, 1.0))


def _lag(watched: Watched) -> float:
    lags = [each.sent - max(each.due, each.free) for each in watched.requests if each.due < watched.struck and each.sent is not None]
    return nearest_rank_us(lags, 0.99) or 0.0


def _overload(watched: Watched) -> float:
    asked = [each for each in watched.requests if each.due < watched.struck - _UNDER_WAY]
    late = sum(each.ended is None or each.ended > watched.struck for each in asked)
    return late / len(asked) if asked else 1.0
