"""How many threads the load generator takes: more only where it is the limit, where there are cores for them, and where they help."""

from __future__ import annotations

import os
import socket

import pytest

from storeproof.load.engine import RunResult
from storeproof.load.quality.generator_threads import PAIRS, choose_threads, free_cores

BUSY, IDLE = 0.99, 0.3


def window(rate: float, cpu: float, threads: int) -> RunResult:
    """One of a second, in which each thread had this share of a core."""
    return RunResult({}, rate, rate, 8, 8 / rate if rate else 0, 0, cpu * threads, 1, threads, (0,), (), ())


class Generator:
    """As fast as its threads make it, and never faster than the store."""

    def __init__(self, store: float, each: float = 100.0) -> None:
        self.store, self.each = store, each
        self.ran: list[int] = []

    def window(self, threads: int) -> RunResult:
        """A window with that many, which are busy where the store is not."""
        self.ran.append(threads)
        rate = min(self.store, self.each * threads)
        return window(rate, BUSY * rate / (self.each * threads), threads)

    def choose(self, at_most: int, offered: float = 0.0, headroom: float | None = None) -> int:
        """The number of threads; the ceiling of one is so much higher than what it reaches."""
        first = [self.window(1) for _ in range(4)]
        self.ran.clear()
        ceiling = (lambda threads: headroom * self.each * threads) if headroom else (lambda _threads: None)
        return choose_threads(first, self.window, ceiling, at_most=at_most, offered=offered)


@pytest.mark.parametrize(
    ("store", "threads"),
    [(50, 1), (180, 2), (350, 4), (790, 8), (10_000, 8)],
    ids=["the store is slower than one", "two", "four", "eight", "faster than all"],
)
def test_threads_are_doubled_until_the_store_is_the_limit(store: float, threads: int) -> None:
    """Or until there are no more cores for them."""
    assert Generator(store).choose(at_most=8) == threads


def test_no_more_threads_than_cores_are_free() -> None:
    """On a machine without a free core nothing is even tried; with three, three are taken."""
    one, three = Generator(10_000), Generator(10_000)
    assert (one.choose(at_most=1), one.ran) == (1, [])
    assert three.choose(at_most=3) == 3


def test_a_generator_that_is_not_the_limit_stays_as_it_is() -> None:
    """No time is spent on trying."""
    generator = Generator(30)
    assert (generator.choose(at_most=8), generator.ran) == (1, [])


def test_a_busy_thread_near_the_limit_is_enough_to_try() -> None:
    """At 0.85 of a core: a round may be beyond 0.9 of it."""
    assert Generator(100 * 0.85 / BUSY).choose(at_most=2) == 1
    ran = Generator(100 * 0.85 / BUSY)
    ran.choose(at_most=2)
    assert ran.ran.count(1) == ran.ran.count(2) == PAIRS


def test_a_thread_that_takes_the_core_of_the_server_is_not_kept() -> None:
    """Two reach less than one did."""

    class Sharing(Generator):
        def window(self, threads: int) -> RunResult:
            self.ran.append(threads)
            return window(100 / threads, BUSY, threads)

    generator = Sharing(0)
    assert generator.choose(at_most=4) == 1
    assert sorted(generator.ran) == [1] * PAIRS + [2] * PAIRS, "and four are not tried"


def test_a_gain_within_the_noise_is_none() -> None:
    """Windows with two threads that are a sixth faster on average, and scatter by more than that."""

    class Noisy(Generator):
        def window(self, threads: int) -> RunResult:
            return window(next(scattered) if threads == 2 else 100, BUSY, threads)

    scattered = iter([130.0, 90, 150, 85, 140])
    assert Noisy(0).choose(at_most=2) == 1
    scattered = iter([115.0, 118, 113, 117, 116])
    assert Noisy(0).choose(at_most=2) == 2


@pytest.mark.parametrize(("store", "threads"), [(104, 1), (106, 2)])
def test_a_small_gain_is_not_worth_a_core(store: float, threads: int) -> None:
    """However certain it is."""
    assert Generator(store).choose(at_most=2) == threads


def test_the_pairs_take_turns() -> None:
    """In every other one of them the other number comes first."""
    generator = Generator(10_000)
    generator.choose(at_most=2)
    assert generator.ran[:8] == [2, 1, 1, 2, 2, 1, 1, 2]


def test_a_ceiling_that_is_near_is_a_limit_too() -> None:
    """Its thread sleeps, and yet it could not do much more; the ceiling of two is twice as high."""

    class Sleepy(Generator):
        def window(self, threads: int) -> RunResult:
            self.ran.append(threads)
            return window(min(self.store, self.each * threads), IDLE, threads)

    assert Sleepy(150).choose(at_most=8, headroom=1.1) == 2
    assert Sleepy(150).choose(at_most=8, headroom=5) == 1
    assert Sleepy(150).choose(at_most=8) == 1


@pytest.mark.parametrize(("offered", "threads"), [(20, 1), (200, 1), (370, 2)])
def test_an_open_loop_needs_what_its_rate_needs(offered: float, threads: int) -> None:
    """And not what the store could take at most: only an offered rate near the ceiling asks for more."""
    assert Generator(10_000).choose(at_most=2, offered=offered, headroom=5) == threads


def test_a_window_in_which_nothing_was_answered_proves_nothing() -> None:
    """There is no ratio to zero."""

    class Silent(Generator):
        def window(self, threads: int) -> RunResult:
            return window(0 if threads == 2 else 100, BUSY, threads)

    assert Silent(0).choose(at_most=2) == 1


HERE, ABROAD = "127.0.0.1", "192.0.2.1"
"""The second is of a block for documentation, which no machine has."""


@pytest.mark.parametrize(
    ("ours", "theirs", "host", "free"),
    [
        ({0, 1}, [{0, 1}], HERE, 1),
        ({0, 1, 2, 3}, [{0, 1, 2, 3}], HERE, 3),
        ({2, 3}, [{0, 1}], HERE, 2),
        ({2, 3}, [{0, 1}, {1, 2}], HERE, 1),
        ({0}, [{0}], HERE, 1),
        ({0, 1}, [], HERE, 1),
        ({0, 1}, [], "localhost", 1),
        ({0, 1}, [], ABROAD, 2),
        ({0, 1}, [None], HERE, 1),
    ],
    ids=["shared", "four shared", "apart", "one shared", "one core", "unknown", "by name", "another machine", "ended"],
)
def test_the_server_has_a_core_where_they_share(
    monkeypatch: pytest.MonkeyPatch, ours: set[int], theirs: list[set[int] | None], host: str, free: int
) -> None:
    """All of its processes count, and one that cannot be looked at may be on any core."""

    def affinity(pid: int) -> set[int]:
        found = theirs[pid - 1] if pid else ours
        if found is None:
            raise ProcessLookupError
        return found

    monkeypatch.setattr(os, "sched_getaffinity", affinity)
    assert free_cores(range(1, len(theirs) + 1), host) == free


def test_an_address_that_cannot_be_resolved_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error belongs to who connects to it."""

    def unknown(*_arguments: object, **_more: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert free_cores([], "no.such.host") == len(os.sched_getaffinity(0))
