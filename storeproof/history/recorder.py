"""Records what clients do, cheaply enough to stand beside every operation.

Each client writes to a log of its own, so that no client waits for another; only opening a log takes a lock.
A client has one operation in flight. What is in flight when the history is read is `unknown`: a client that was
interrupted between its request and its note must not make a write disappear from the history.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic_ns

from storeproof.history.operation import Action, Answer, Ending, Operation, Place


@dataclass(frozen=True, slots=True)
class _InFlight:
    """What was asked for, and where it will stand in the log."""

    action: Action
    places: Sequence[Place]
    write_id: str
    expected: str
    amount: int
    invoked: int
    position: int

    def operations(self, client: int, completed: int | None, outcome: Ending, answer: Answer = None) -> list[Operation]:
        return [
            Operation(
                client=client,
                action=self.action,
                collection=collection,
                key=key,
                invoked=self.invoked,
                completed=completed,
                outcome=outcome,
                write_id=self.write_id,
                expected=self.expected,
                amount=self.amount,
                answer=answer,
            )
            for collection, key in self.places
        ]


class ClientLog:
    """The operations of one client, in its order. Used by one thread; read by any."""

    def __init__(self, client: int, clock: Callable[[], int]) -> None:
        self.client = client
        self.acknowledged = 0
        """How many operations ended `ok` so far; each put of those that go together counts."""
        self._clock = clock
        self._done: list[Operation] = []
        self._in_flight: _InFlight | None = None

    @property
    def ended(self) -> int:
        """How many operations ended so far, however they did."""
        return len(self._done)

    def invoke(self, action: Action, place: Place, *, write_id: str = "", expected: str = "", amount: int = 0) -> None:
        """Note that the request is about to leave.

        Raises:
            RuntimeError: the operation before has no end yet.
        """
        self._invoke(action, (place,), write_id, expected, amount)

    def invoke_together(self, places: Sequence[Place], *, write_id: str) -> None:
        """Note that the request is about to leave that puts one record into each of several places, or none.

        They share their write id, and are in the history as one `put` each, with the same times and the same end.

        Raises:
            RuntimeError: the operation before has no end yet.
        """
        self._invoke("put", tuple(places), write_id, "", 0)

    def end(self, outcome: Ending, answer: Callable[[], Answer] = lambda: None) -> None:
        """Note how the operation in flight ended; call it at once when the reply is there.

        `answer` is called after the time was taken: to look at a reply may take longer than to get it.

        Raises:
            RuntimeError: nothing is in flight.
        """
        now = self._clock()
        if self._in_flight is None:
            raise RuntimeError(f"client {self.client} ended an operation that it never invoked")
        ended = self._in_flight.operations(self.client, None if outcome == "unknown" else now, outcome, answer())
        self._done.extend(ended)
        self._in_flight = None
        if outcome == "ok":
            self.acknowledged += len(ended)

    def operations(self) -> list[Operation]:
        """What was done so far; the one in flight is `unknown`."""
        in_flight = self._in_flight
        done = list(self._done)
        # Read in this order, an operation that ends meanwhile is found in the list, at its position.
        if in_flight is not None and len(done) == in_flight.position:
            done.extend(in_flight.operations(self.client, None, "unknown"))
        return done

    def _invoke(self, action: Action, places: Sequence[Place], write_id: str, expected: str, amount: int) -> None:
        if self._in_flight is not None:
            raise RuntimeError(
                f"client {self.client} invoked {action} while its {self._in_flight.action} is in flight; "
                "a client has one operation at a time"
            )
        self._in_flight = _InFlight(action, places, write_id, expected, amount, self._clock(), len(self._done))


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

    @property
    def ended(self) -> int:
        """How many operations ended so far, however they did."""
        with self._opening:
            return sum(log.ended for log in self._logs)

    def operations(self) -> list[Operation]:
        """All operations in the order of their invocation."""
        with self._opening:
            logs = list(self._logs)
        return sorted((operation for log in logs for operation in log.operations()), key=lambda operation: operation.invoked)
