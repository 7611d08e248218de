"""Clients of an open loop that outlive their store: what is due is due, whoever is there to answer it.

Each has a schedule, a connection and a log of its own, in a thread of this process: at the rates that an outage is watched at, a Python
client has time to spare, and how late it was is measured. What is due while it waits for an answer, or for a connection, is sent as soon
as that is there. It never repeats a request: one that failed has failed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from time import monotonic_ns
from typing import Final

from storeproof.contract import Collection, Layout, Refused, Session, Unknown, call
from storeproof.history import ClientLog
from storeproof.load.arrivals import SECOND, exponential
from storeproof.records.self_verifying import recipe, write_id
from storeproof.stats.unavailability import Timed

_RECONNECT_SECONDS: Final = 0.02


class Caller:
    """One client: half puts of new records, half gets of its own."""

    def __init__(self, connect: Callable[[], Session], layout: Layout, log: ClientLog, rate: float, seed: str) -> None:
        """`connect` opens a session with the store where it is now; `rate`: requests per second, at exponential distances."""
        self.requests: list[Timed] = []
        self.failure: Exception | None = None
        """What no adapter may raise."""
        self._connect = connect
        self._layout = layout
        self._recipe = recipe(layout.model)
        self._log = log
        self._gaps = exponential(rate, f"{seed}:gaps")
        self._rng = Random(seed)
        self._sessions: list[Session] = []
        self._collection: Collection | None = None
        self._written = 0

    def open(self) -> None:
        """Connect.

        Raises:
            Unknown, Refused: the store does not answer, or does not have us.
        """
        session = self._connect()
        # Closed at the end: some clients look for their server before they close, and the next request is due.
        self._sessions.append(session)
        self._collection = session.collection(self._layout)

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Send what is due from `go` until `stop`; then close."""
        go.wait()
        try:
            self._run(stop)
        except Exception as reason:  # noqa: BLE001 - raised by whoever waits for this client: a thread cannot
            self.failure = reason
        self.close()

    def close(self) -> None:
        """End its sessions."""
        while self._sessions:
            self._sessions.pop().close()

    def _run(self, stop: threading.Event) -> None:
        due = free = monotonic_ns()
        while True:
            due += next(self._gaps)
            if stop.wait((due - monotonic_ns()) / SECOND) or not self._connected(stop):
                break
            sent = monotonic_ns()
            ok = self._ask()
            ended = monotonic_ns()
            self.requests.append(Timed(due, free, sent, ended, ok))
            free = ended
        now = monotonic_ns()
        while due <= now:
            self.requests.append(Timed(due, free, None, None, ok=False))
            due += next(self._gaps)

    def _connected(self, stop: threading.Event) -> bool:
        """Whether there is a connection, which may take until the store is back; False when it is told to stop."""
        while self._collection is None:
            try:
                self.open()
            except (Refused, Unknown):
                if stop.wait(_RECONNECT_SECONDS):
                    return False
        return True

    def _ask(self) -> bool:
        """One request; whether it was answered."""
        assert self._collection is not None
        puts = not self._written or self._rng.random() < 0.5
        try:
            if puts:
                self._put(self._collection)
            else:
                call(self._collection, self._layout, "get", self._key(self._rng.randrange(self._written)))
        except Refused:
            if puts:
                self._log.end("refused")
            return False
        except Unknown:
            if puts:
                self._log.end("unknown")
            self._collection = None
            return False
        if puts:
            self._log.end("ok")
        return True

    def _put(self, collection: Collection) -> None:
        key, version = self._key(self._written), write_id(self._log.client, self._written)
        self._written += 1
        record = self._recipe.make(key, version)
        self._log.invoke("put", self._layout.model.model, key, version=version)
        call(collection, self._layout, "put", key, record)

    def _key(self, number: int) -> str:
        return f"c{self._log.client}:{number}"
