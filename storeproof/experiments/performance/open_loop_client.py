"""An open loop: what is due is due, whether the store is there to answer it or not.

Each client has a schedule, a connection and a log of its own, in a thread of this process: at the rates that an outage is watched at, a
Python client has time to spare, and how late it was is measured. What is due while it waits for an answer, or for a connection, is sent as
soon as that is there, and its latency counts from when it was due (no coordinated omission).
"""

from __future__ import annotations

import threading
from random import Random
from time import monotonic_ns

from storeproof.contract import Collection, Layout, Session, call
from storeproof.experiments.client import Strategy
from storeproof.history import ClientLog, RequestOutcome
from storeproof.load.arrivals import SECOND, exponential
from storeproof.records.self_verifying import recipe, write_id
from storeproof.stats.unavailability import Timed


class OpenLoop:
    """Requests at exponential distances; a client that loses its connection connects again."""

    reconnects = True

    def __init__(self, rate: float, seed: str) -> None:
        self.requests: list[Timed] = []
        self._gaps = exponential(rate, seed)
        self._due = self._sent = 0
        self._free = 0
        """Since when the client had nothing to do."""

    def wait(self, stop: threading.Event) -> bool:
        """Until the next request is due."""
        if not self._due:
            self._due = self._free = monotonic_ns()
        self._due += next(self._gaps)
        return not stop.wait((self._due - monotonic_ns()) / SECOND)

    def sent(self) -> None:
        self._sent = monotonic_ns()

    def replied(self, *, ok: bool) -> None:
        """Note when, and whether with an answer."""
        ended = monotonic_ns()
        self.requests.append(Timed(self._due, self._free, self._sent, ended, ok))
        self._free = ended

    def stopped(self) -> None:
        """Note what was due and is not sent any more."""
        now = monotonic_ns()
        while self._due <= now:
            self.requests.append(Timed(self._due, self._free, None, None, ok=False))
            self._due += next(self._gaps)


class PutsAndGets(Strategy):
    """Half puts of new records, half gets of the client's own."""

    def __init__(self, layout: Layout, log: ClientLog, seed: str) -> None:
        self._layout = layout
        self._recipe = recipe(layout.model)
        self._log = log
        self._rng = Random(seed)
        self._written = 0
        self._puts = False
        """Whether a put is under way; gets are in no history."""

    def use(self, session: Session) -> None:
        self._collection: Collection = session.collection(self._layout)

    def request(self) -> None:
        self._puts = not self._written or self._rng.random() < 0.5
        if not self._puts:
            call(self._collection, self._layout, "get", self._key(self._rng.randrange(self._written)))
            return
        key, new_id = self._key(self._written), write_id(self._log.client, self._written)
        self._written += 1
        record = self._recipe.make(key, new_id)
        self._log.invoke("put", (self._layout.model.model, key), write_id=new_id)
        call(self._collection, self._layout, "put", key, record)

    def end(self, outcome: RequestOutcome) -> None:
        if self._puts:
            self._log.end(outcome)

    def _key(self, number: int) -> str:
        return f"c{self._log.client}:{number}"
