"""A load host as this machine sees it: asked with a time limit, and known to be gone when it does not answer."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from time import monotonic_ns, sleep
from typing import TYPE_CHECKING, Any, Final

from storeproof.load.engine import LoadFailed
from storeproof.load.hosts.load_host import LoadHost, News

if TYPE_CHECKING:
    from distributed.actor import Actor, BaseActorFuture

ANSWER_SECONDS: Final = 30.0
"""For a host to answer. Each question takes it a millisecond or two, but a busy machine has kept one waiting for more than 5 s. A host
whose process has ended is noticed at once, by its connection."""
_BETWEEN_SECONDS: Final = 0.02
"""Between two looks at all hosts."""
_SAMPLES: Final = 9
"""Readings of a host's clock, of which the one that came back soonest counts."""


class RemoteHost:
    def __init__(self, name: str, actor: Actor) -> None:
        self.name = name
        self._actor = actor
        self.ahead_ns = 0
        """By how much its monotonic clock is ahead of this machine's."""
        self.uncertain_ns = 0
        """At most so far from the truth is that."""

    def ask(self, question: str, *arguments: object) -> BaseActorFuture[Any]:
        """Have a method of its `LoadHost` called; `answer` waits for what it returns."""
        assert hasattr(LoadHost, question)
        try:
            asked: BaseActorFuture[Any] = getattr(self._actor, question)(*arguments)
        except (OSError, RuntimeError) as reason:  # RuntimeError: Dask knows that the worker was lost
            raise self._gone(str(reason)) from None
        return asked

    def answer(self, asked: BaseActorFuture[Any]) -> Any:
        """What a question was answered with. Raises `LoadFailed`: the host is gone, or did not answer in time."""
        try:
            return asked.result(timeout=ANSWER_SECONDS)
        except TimeoutError:
            raise self._gone(f"it did not answer within {ANSWER_SECONDS:g} s") from None
        except (OSError, RuntimeError, ValueError) as reason:  # ValueError: the worker is there, and what it had is not
            raise self._gone(str(reason)) from None

    def read_clock(self) -> None:
        """Find out how far its clock is from this machine's: by the formula of NTP, from the reading that came back soonest."""
        soonest = None
        for _ in range(_SAMPLES):
            sent = monotonic_ns()
            theirs = self.answer(self.ask("clock"))
            took = monotonic_ns() - sent
            if soonest is None or took < soonest:
                soonest = took
                self.ahead_ns, self.uncertain_ns = theirs - (sent + took // 2), took // 2

    def _gone(self, why: str) -> LoadFailed:
        return LoadFailed(f"the load host {self.name} is gone: {why}")


def news_of(hosts: Sequence[RemoteHost]) -> list[News]:
    """How far each is with its last order, all asked at once.

    Raises:
        LoadFailed: one is gone, or its engine failed.
        Exception: what else its order ended with.
    """
    asked = [each.ask("news") for each in hosts]
    found: list[News] = [host.answer(each) for host, each in zip(hosts, asked, strict=True)]
    for host, news in zip(hosts, found, strict=True):
        if isinstance(news.failure, LoadFailed):
            raise LoadFailed(f"on the load host {host.name}: {news.failure}")
        if news.failure is not None:
            raise news.failure
    return found


def tell(hosts: Sequence[RemoteHost], order: str, arguments: Sequence[tuple[object, ...]]) -> None:
    """Give each an order. Raises `LoadFailed`: one is gone."""
    asked = [host.ask(order, *its) for host, its in zip(hosts, arguments, strict=True)]
    for host, each in zip(hosts, asked, strict=True):
        host.answer(each)


def wait_for(hosts: Sequence[RemoteHost]) -> list[Any]:
    """What each of them found with its last order, in their order. Raises as `news_of`.

    It has no time limit of its own: engines have theirs, and a host that is gone does not answer.
    """
    found = news_of(hosts)
    while not all(news.done for news in found):
        sleep(_BETWEEN_SECONDS)
        found = news_of(hosts)
    return [news.found for news in found]


def close_all(hosts: Sequence[RemoteHost]) -> None:
    """End the connections and processes of all; never raises, and may be called twice."""
    for host in hosts:
        with contextlib.suppress(LoadFailed):
            host.answer(host.ask("close"))
