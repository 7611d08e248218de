"""A client of a store: sessions, and a loop that sends one request after another.

Its `Strategy` chooses the requests; its `Pacing` decides when to send them. A client never repeats a request. At its first unknown outcome,
when its connection is lost, it stops or, if its pacing says so, it reconnects.
"""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from storeproof.contract import Refused, Session, Unknown, Unsupported
from storeproof.experiments.client_threads import Running, running
from storeproof.history import RequestOutcome

_RECONNECT_SECONDS = 0.02


@dataclass
class Ended:
    """Why a client stopped by itself."""

    refusal: str = ""
    """The last refusal; also set if the client continued."""
    unknown: str = ""
    failure: Exception | None = None
    """An exception that the contract does not allow."""


class Strategy(ABC):
    """Chooses a client's requests and records them."""

    refused: RequestOutcome = "refused"
    """The outcome of a request that the store refused."""
    most_refusals: int = sys.maxsize
    """The number of consecutive refusals after which the client stops."""

    @property
    def exhausted(self) -> bool:
        """Whether there are no more requests."""
        return False

    @abstractmethod
    def use(self, session: Session) -> None:
        """Send the requests through this session from now on."""

    @abstractmethod
    def request(self) -> None:
        """Record the next request, send it, and wait for the reply.
        Raises `Refused` or `Unsupported` or `Unknown`: as the contract says."""

    @abstractmethod
    def end(self, outcome: RequestOutcome) -> None:
        """Record the outcome of the request."""


class Pacing(Protocol):
    """When a client sends its next request."""

    reconnects: bool
    """Whether the client reconnects after a lost connection."""

    def wait(self, stop: threading.Event) -> bool:
        """Wait until the next request is due; False if there is none."""

    def sent(self) -> None:
        """Called when a request is sent."""

    def replied(self, *, ok: bool) -> None:
        """Called when a request ends; `ok`: with an answer."""

    def stopped(self) -> None:
        """Called after the last request."""


class ClosedLoop:
    """Sends the next request as soon as the reply to the last one has arrived."""

    def __init__(self, after_stop: int = 0, *, reconnects: bool = False) -> None:
        """`after_stop`: requests to send after the client is told to stop."""
        self._left = after_stop
        self.reconnects = reconnects

    def wait(self, stop: threading.Event) -> bool:
        if not stop.is_set():
            return True
        self._left -= 1
        return self._left >= 0

    def sent(self) -> None:
        """Does nothing."""

    def replied(self, *, ok: bool) -> None:
        """Does nothing."""

    def stopped(self) -> None:
        """Does nothing."""


class Client:
    """A client. The constructor connects it, and raises what the adapter's `connect` raises."""

    def __init__(self, connect: Callable[[], Session], strategy: Strategy, pacing: Pacing | None = None) -> None:
        """`connect`: opens a session at the store's current address; `pacing`: a closed loop by default."""
        self.ended = Ended()
        self.acknowledged = 0
        """The number of answered requests."""
        self.unknown = 0
        """The number of requests that it has given up: whether they happened is unknown."""
        self._connect = connect
        self._strategy = strategy
        self._pacing = pacing if pacing is not None else ClosedLoop()
        self._sessions: list[Session] = []
        self._refusals = 0
        self.open()

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Send requests from `go` until `stop`, or until another request makes no sense; then close the sessions.

        The sessions are closed in the client's own thread: some client libraries contact their server before they close, and the other
        clients must not wait for that.
        """
        go.wait()
        while self._pacing.wait(stop) and self._reconnected(stop) and self.step():
            pass
        self._pacing.stopped()
        self.close()

    def step(self) -> bool:
        """Send one request; False if another one makes no sense."""
        if self._strategy.exhausted:
            return False
        outcome: RequestOutcome = "ok"
        goes_on = True
        self._pacing.sent()
        try:
            self._strategy.request()
        except (Refused, Unsupported) as reason:  # not every store subtracts
            outcome = self._strategy.refused
            self.ended.refusal = str(reason)
            self._refusals += 1
            goes_on = self._refusals < self._strategy.most_refusals
        except Unknown as reason:
            outcome = "unknown"
            self.unknown += 1
            self.ended.unknown = str(reason) or "no answer"
            goes_on = self._pacing.reconnects
        except Exception as reason:  # noqa: BLE001 - raised where this client is waited for: a thread cannot
            outcome = "unknown"
            self.ended.failure = reason
            goes_on = False
        else:
            self.acknowledged += 1
            self._refusals = 0
        self._strategy.end(outcome)
        self._pacing.replied(ok=outcome == "ok")
        return goes_on

    def close(self) -> None:
        while self._sessions:
            self._sessions.pop().close()

    def open(self) -> None:
        """Open another session, and send through that one. Raises what the adapter's `connect` raises."""
        session = self._connect()
        # Sessions are closed only at the end: some client libraries contact their server before they close, and the next request is due.
        self._sessions.append(session)
        try:
            self._strategy.use(session)
        except BaseException:  # it may be tried again twenty times a second
            self._sessions.pop().close()
            raise
        self.ended.unknown = ""

    def _reconnected(self, stop: threading.Event) -> bool:
        """Wait until there is a connection, which may take until the store is back; False if the client is told to stop."""
        while self.ended.unknown:
            try:
                self.open()
            except (Refused, Unknown):
                if stop.wait(_RECONNECT_SECONDS):
                    return False
        return True


def open_clients(number: int, make: Callable[[], Client]) -> list[Client]:
    """Open several clients; if one fails, the others are closed."""
    clients: list[Client] = []
    try:
        while len(clients) < number:
            clients.append(make())
    except BaseException:
        for client in clients:
            client.close()
        raise
    return clients


@contextmanager
def under_load(clients: Sequence[Client]) -> Iterator[Running]:
    """The clients send requests until the end of the block. Raises `Breach`: an adapter broke the contract, in any of their threads."""
    with running([client.run for client in clients]) as load:
        yield load
    raise_failures(clients)


def raise_failures(clients: Sequence[Client]) -> None:
    """Raise here an exception that broke the contract in a client's thread."""
    for client in clients:
        if client.ended.failure is not None:
            raise client.ended.failure


def raise_unknown(clients: Sequence[Client]) -> None:
    """Raise `Unknown` if one of the clients lost its connection."""
    for client in clients:
        if client.ended.unknown:
            raise Unknown(client.ended.unknown)


def send_some(client: Client, requests: int) -> None:
    """Send up to `requests` requests, then close the client.

    Raises:
        Unknown: the connection was lost.
        Breach: the adapter broke the contract.
    """
    try:
        for _ in range(requests):
            if not client.step():
                break
    finally:
        client.close()
    raise_failures([client])
    raise_unknown([client])
