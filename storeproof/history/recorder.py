"""Notes what clients do, cheaply enough to stand beside every operation.

Each client writes to a log of its own, so that no client waits for another; only opening a log takes a lock.
A client has one operation in flight. What is in flight when the history is read is `unknown`: a client that was
interrupted between its request and its note must not make a write disappear from the history.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import monotonic_ns

from storeproof.history.operation import Action, Ending, Operation

Place = tuple[str, str | int]
"""A collection and a key in it."""

_Flying = tuple[Action, Sequence[Place], str, int, int, int]
"""What was asked for, where, with which write id and amount, and when; and at which place of the log it will stand."""


class ClientLog:
    """The operations of one client, in its order. Used by one thread; read by any."""

    def __init__(self, client: int, clock: Callable[[], int]) -> None:
        self.client = client
        self.acknowledged = 0
        """How many operations ended `ok` so far; each put of those that go together counts."""
        self._clock = clock
        self._done: list[Operation] = []
        self._flying: _Flying | None = None

    def invoke(self, action: Action, collection: str, key: str | int, *, version: str = "", amount: int = 0) -> None:
        """Note that the request is about to leave.

        Raises:
            RuntimeError: the operation before has no end yet.
        """
        self._invoke(action, ((collection, key),), version, amount)

    def invoke_together(self, places: Sequence[Place], *, version: str) -> None:
        """Note that the request is about to leave that puts one record into each of several places, or none.

        They share their write id, and are in the history as one `put` each, with the same times and the same end.

        Raises:
            RuntimeError: the operation before has no end yet.
        """
        self._invoke("put", tuple(places), version, 0)

    def end(self, outcome: Ending) -> None:
        """Note how the operation in flight ended; call it at once when the reply is there.

        Raises:
            RuntimeError: nothing is in flight.
        """
        now = self._clock()
        if self._flying is None:
            raise RuntimeError(f"client {self.client} ended an operation that it never invoked")
        ended = _parts(self.client, self._flying, None if outcome == "unknown" else now, outcome)
        self._done.extend(ended)
        self._flying = None
        if outcome == "ok":
            self.acknowledged += len(ended)

    def operations(self) -> list[Operation]:
        """What was done so far; the one in flight is `unknown`."""
        flying = self._flying
        done = list(self._done)
        # Read in this order, an operation that ends meanwhile is found in the list, at its place.
        if flying is not None and len(done) == flying[-1]:
            done.extend(_parts(self.client, flying, None, "unknown"))
        return done

    def _invoke(self, action: Action, places: Sequence[Place], version: str, amount: int) -> None:
        if self._flying is not None:
            raise RuntimeError(
                f"client {self.client} invoked {action} while its {self._flying[0]} is in flight; a client has one operation at a time"
            )
        self._flying = (action, places, version, amount, self._clock(), len(self._done))


def _parts(client: int, flying: _Flying, completed: int | None, outcome: Ending) -> list[Operation]:
    action, places, version, amount, invoked, _ = flying
    return [Operation(client, action, collection, key, version, amount, invoked, completed, outcome) for collection, key in places]


class Recorder:
    """The history of all clients."""

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._logs: list[ClientLog] = []
        self._opening = threading.Lock()

    def client(self) -> ClientLog:
        """A log for one more client, numbered from 0."""
        with self._opening:
            log = ClientLog(len(self._logs), self._clock)
            self._logs.append(log)
            return log

    @property
    def acknowledged(self) -> int:
        """How many operations were acknowledged so far: what is at risk."""
        with self._opening:
            return sum(log.acknowledged for log in self._logs)

    def operations(self) -> list[Operation]:
        """All operations in the order of their invocation."""
        with self._opening:
            logs = list(self._logs)
        return sorted((operation for log in logs for operation in log.operations()), key=lambda operation: operation.invoked)
