"""A client of a store: sessions, and a loop that sends one request after another.

What it asks for is its `Strategy`; when it asks is its `Pacing`. A client never repeats a request. In a closed loop it stops at its first
unknown outcome, since its connection is gone; in an open loop it connects again.
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
from storeproof.history import Ending

_RECONNECT_SECONDS = 0.02


@dataclass
class Ended:
    """Why a client stopped, where it was not told to."""

    refusal: str = ""
    """The last refusal; also set when the client went on."""
    unknown: str = ""
    failure: Exception | None = None
    """What no adapter may raise."""


class Strategy(ABC):
    """What a client asks for, and how that is recorded."""

    refused: Ending = "refused"
    """What is known of a request that the store refused."""
    most_refusals: int = sys.maxsize
    """In a row; then the client stops."""

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing left to ask for."""
        return False

    @abstractmethod
    def use(self, session: Session) -> None:
        """Send the requests through this session from now on."""

    @abstractmethod
    def request(self) -> None:
        """Record the next request, send it, and wait for the reply.

        Raises:
            Refused, Unsupported, Unknown: as the contract says.
        """

    @abstractmethod
    def end(self, outcome: Ending) -> None:
        """Record how it ended."""


class Pacing(Protocol):
    """When a client sends its next request."""

    reconnects: bool
    """Whether it goes on when its connection is lost."""

    def wait(self, stop: threading.Event) -> bool:
        """Until the next request is due; False if there is to be none."""

    def sent(self) -> None:
        """A request leaves."""

    def replied(self, *, ok: bool) -> None:
        """It ended; `ok`: with an answer."""

    def stopped(self) -> None:
        """No request follows."""


class ClosedLoop:
    """The next request leaves when the reply to the one before is there."""

    reconnects = False

    def __init__(self, after_stop: int = 0) -> None:
        """`after_stop`: requests that still follow when the client is told to stop."""
        self._left = after_stop

    def wait(self, stop: threading.Event) -> bool:
        """Without waiting."""
        if not stop.is_set():
            return True
        self._left -= 1
        return self._left >= 0

    def sent(self) -> None:
        """Not noted."""

    def replied(self, *, ok: bool) -> None:
        """Not noted."""

    def stopped(self) -> None:
        """Not noted."""


class Client:
    """Connected when it is made. Raises what the adapter's `connect` raises."""

    def __init__(self, connect: Callable[[], Session], strategy: Strategy, pacing: Pacing | None = None) -> None:
        """`connect` opens a session with the store where it is now; `pacing`: a closed loop if there is none."""
        self.ended = Ended()
        self.acknowledged = 0
        """Requests that were answered."""
        self._connect = connect
        self._strategy = strategy
        self._pacing = pacing if pacing is not None else ClosedLoop()
        self._sessions: list[Session] = []
        self._refusals = 0
        self._open()

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Send requests from `go` until `stop`, or until there is no point in another; then end the sessions.

        In the client's own thread: some clients look for their server before they close, and seven others must not wait for that.
        """
        go.wait()
        while self._pacing.wait(stop) and self._reconnected(stop) and self.step():
            pass
        self._pacing.stopped()
        self.close()

    def step(self) -> bool:
        """One request; False if there is no point in another."""
        if self._strategy.exhausted:
            return False
        outcome: Ending = "ok"
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
        """End the sessions."""
        while self._sessions:
            self._sessions.pop().close()

    def _open(self) -> None:
        session = self._connect()
        # Closed at the end, also where another follows: some clients look for their server before they close, and the next request is due.
        self._sessions.append(session)
        self._strategy.use(session)
        self.ended.unknown = ""

    def _reconnected(self, stop: threading.Event) -> bool:
        """Whether there is a connection, which may take until the store is back; False when the client is told to stop."""
        while self.ended.unknown:
            try:
                self._open()
            except (Refused, Unknown):
                if stop.wait(_RECONNECT_SECONDS):
                    return False
        return True


def open_clients(number: int, make: Callable[[], Client]) -> list[Client]:
    """Several clients; where one cannot be made, the others are closed."""
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
    """The clients send requests until the end of the block.

    Raises:
        Breach: what no adapter may raise, in any of their threads.
    """
    with running([client.run for client in clients]) as load:
        yield load
    raise_failures(clients)


def raise_failures(clients: Sequence[Client]) -> None:
    """What broke the contract in a client's thread is raised here."""
    for client in clients:
        if client.ended.failure is not None:
            raise client.ended.failure


def send_some(client: Client, requests: int) -> None:
    """That many requests, fewer if there is no point in more; then the client is closed.

    Raises:
        Unknown: the connection was lost.
        Breach: what no adapter may raise.
    """
    try:
        for _ in range(requests):
            if not client.step():
                break
    finally:
        client.close()
    raise_failures([client])
    if client.ended.unknown:
        raise Unknown(client.ended.unknown)
