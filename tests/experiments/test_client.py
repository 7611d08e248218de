"""The loop of a client: when it sends, when it stops, and what it records."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from storeproof.contract import Breach, Refused, Unknown
from storeproof.experiments.client import Client, ClosedLoop, Strategy, open_clients, raise_failures, send_some, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.performance.open_loop_client import OpenLoop
from storeproof.history import RequestOutcome


class Session:
    """Counts how often it is closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


class Scripted(Strategy):
    """Its requests end as they are told to; then all are answered."""

    def __init__(self, *endings: Exception | None, requests: int | None = None) -> None:
        self.endings: Iterator[Exception | None] = itertools.chain(endings, itertools.repeat(None))
        self.left = requests
        self.recorded: list[RequestOutcome] = []
        self.sessions = 0

    @property
    def exhausted(self) -> bool:
        return self.left is not None and len(self.recorded) >= self.left

    def use(self, session: Any) -> None:
        self.sessions += 1

    def request(self) -> None:
        time.sleep(0.0005)
        if (ending := next(self.endings)) is not None:
            raise ending

    def end(self, outcome: RequestOutcome) -> None:
        self.recorded.append(outcome)


def client(strategy: Strategy, pacing: Any = None, connect: Callable[[], Any] = Session) -> Client:
    """A client of no store."""
    return Client(connect, strategy, pacing)


def test_a_closed_loop_stops_at_its_first_unknown_outcome() -> None:
    """Its connection is gone, and what follows would say nothing."""
    strategy = Scripted(None, Refused("no"), Unknown("connection lost"))
    one = client(strategy)
    with under_load([one]) as load:
        load.threads[0].join(5)
    assert strategy.recorded == ["ok", "refused", "unknown"]
    assert (one.ended.refusal, one.ended.unknown, one.acknowledged) == ("no", "connection lost", 1)


def test_a_client_that_is_refused_again_and_again_stops() -> None:
    """After as many refusals in a row as its strategy says; an answer in between starts the count again."""
    strategy = Scripted(Refused("1"), None, Refused("2"), Refused("3"))
    strategy.most_refusals = 2
    send_some(client(strategy), 10)
    assert strategy.recorded == ["refused", "ok", "refused", "refused"]


def test_a_client_with_nothing_left_to_ask_stops() -> None:
    """Its strategy is exhausted."""
    strategy = Scripted(requests=3)
    send_some(client(strategy), 10)
    assert len(strategy.recorded) == 3


def test_a_closed_loop_may_send_some_more_when_it_is_told_to_stop() -> None:
    """A few, so that the fault strikes among requests, and their number has an end."""
    go, stop = threading.Event(), threading.Event()
    go.set()
    stop.set()
    strategy = Scripted()
    client(strategy, ClosedLoop(after_stop=3)).run(go, stop)
    assert len(strategy.recorded) == 3


def test_a_breach_in_a_clients_thread_is_raised_by_whoever_waits_for_it() -> None:
    """A thread cannot raise it, and it must not be lost; its request is unknown."""
    strategy = Scripted(Breach("put raised KeyError"))
    with pytest.raises(Breach, match="put raised KeyError"), under_load([client(strategy)]) as load:
        load.threads[0].join(5)
    assert strategy.recorded == ["unknown"]


def test_an_open_loop_connects_again_and_notes_what_it_missed() -> None:
    """Latency counts from when a request was due; what was never sent is noted as such."""
    connections: list[Session] = []

    def connect() -> Session:
        if 1 <= len(connections) < 4:
            connections.append(Session())
            raise Unknown("connection refused")
        connections.append(Session())
        return connections[-1]

    strategy, pacing = Scripted(None, Unknown("connection lost")), OpenLoop(2000.0, "seed")
    one = client(strategy, pacing, connect)
    with under_load([one]):
        time.sleep(0.2)
    assert strategy.sessions == 2
    assert strategy.recorded[:2] == ["ok", "unknown"]
    assert "ok" in strategy.recorded[2:]
    sent = [each for each in pacing.requests if each.sent is not None]
    assert len(sent) == len(strategy.recorded)
    assert all(each.due <= each.sent <= each.ended for each in sent)  # type: ignore[operator]
    assert [each.ok for each in sent[:2]] == [True, False]
    assert connections[0].closed == connections[-1].closed == 1


def test_a_session_that_serves_nothing_is_closed_before_the_next_one_is_tried() -> None:
    """A server that is started again may take connections before it serves any, and takes no unlimited number of them."""
    open_now: list[int] = []
    most: list[int] = []

    class Counted(Session):
        def __init__(self) -> None:
            open_now.append(1)
            most.append(len(open_now))

        def close(self) -> None:
            open_now.pop()

    class Barred(Scripted):
        def use(self, session: Any) -> None:
            super().use(session)
            if 1 < self.sessions < 6:
                raise Unknown("it serves no client yet")

    strategy = Barred(Unknown("connection lost"))
    one = client(strategy, ClosedLoop(reconnects=True), Counted)
    with under_load([one]):
        wait_until(lambda: one.acknowledged > 0, 10, 0.001)
    assert strategy.sessions == 6
    assert max(most) == 2, "that which was lost is closed at the end"
    assert not open_now


def test_where_one_client_cannot_connect_the_others_are_closed() -> None:
    """No connection is left open behind an error."""
    sessions: list[Session] = []

    def make() -> Client:
        if len(sessions) == 2:
            raise Unknown("connection refused")
        sessions.append(Session())
        return client(Scripted(), connect=lambda: sessions[-1])  # type: ignore[arg-type, return-value]

    with pytest.raises(Unknown):
        open_clients(3, make)
    assert [each.closed for each in sessions] == [1, 1]


def test_clients_without_a_failure_raise_none() -> None:
    """A lost connection is an outcome, and not a breach."""
    one = client(Scripted(Unknown("timed out")))
    assert not one.step()
    raise_failures([one])
