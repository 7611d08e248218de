"""Records the operations of concurrent clients, with little overhead per operation.

Each client appends to its own log, so that clients do not wait for each other; only opening a log takes a lock.
A client has at most one operation in flight. An operation that is in flight when the history is read is `unknown`: its request
may have been sent, so it must not be missing from the history.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic_ns

from storeproof.history.operation import Action, Answer, Operation, Place, RequestOutcome


@dataclass(frozen=True, slots=True)
class _InFlight:
    """The request in flight, and its future position in the log."""

    action: Action
    places: Sequence[Place]
    write_id: str
    expected: str
    amount: int
    invoked: int
    position: int

    def operations(self, client: int, completed: int | None, outcome: RequestOutcome, answer: Answer = None) -> list[Operation]:
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
    """The operations of one client, in order. Written by one thread; may be read by any."""

    def __init__(self, client: int, clock: Callable[[], int]) -> None:
        self.client = client
        self.acknowledged = 0
        """Number of operations that ended `ok` so far; each put of a batch counts."""
        self._clock = clock
        self._done: list[Operation] = []
        self._in_flight: _InFlight | None = None

    @property
    def ended(self) -> int:
        """Number of operations that ended so far, with any outcome."""
        return len(self._done)

    def invoke(self, action: Action, place: Place, *, write_id: str = "", expected: str = "", amount: int = 0) -> None:
        """Record an operation; call it immediately before the request is sent.
        Raises `RuntimeError`: the previous operation has not ended."""
        self._invoke(action, (place,), write_id, expected, amount)

    def invoke_together(self, places: Sequence[Place], *, action: Action = "put", write_id: str) -> None:
        """As `invoke`, for one request that changes each of several places: a batch or a transaction.

        The history has one operation per place, all with the same write id, times and outcome.

        Raises:
            RuntimeError: the previous operation has not ended.
        """
        self._invoke(action, tuple(places), write_id, "", 0)

    def has_read(self, write_id: str) -> None:
        """Of the transaction in flight: what it read of another client, before it wrote. Raises `RuntimeError`: nothing is in flight."""
        if self._in_flight is None:
            raise RuntimeError(f"client {self.client} has no transaction in which it could read")
        self._in_flight = replace(self._in_flight, expected=write_id)

    def end(self, outcome: RequestOutcome, answer: Callable[[], Answer] = lambda: None) -> None:
        """Record the outcome of the operation in flight; call it as soon as the reply arrives.

        `answer` is called after the clock is read, because decoding a reply may take longer than receiving it.

        Raises:
            RuntimeError: no operation is in flight.
        """
        now = None if outcome == "unknown" else self._clock()
        if self._in_flight is None:
            raise RuntimeError(f"client {self.client} ended an operation that it never invoked")
        ended = self._in_flight.operations(self.client, now, outcome, answer())
        self._done.extend(ended)
        self._in_flight = None
        if outcome == "ok":
            self.acknowledged += len(ended)

    def operations(self) -> list[Operation]:
        """The operations so far; one in flight is `unknown`."""
        in_flight = self._in_flight
        done = list(self._done)
        # `_in_flight` is read before `_done`: an operation that ends in between is then in the list, at its position, and not added twice.
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
    """The logs of all clients, and the history that they form."""

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._logs: list[ClientLog] = []
        self._opening = threading.Lock()

    def client(self) -> ClientLog:
        """Open a log for another client. Clients are numbered from 0."""
        with self._opening:
            log = ClientLog(len(self._logs), self._clock)
            self._logs.append(log)
            return log

    @property
    def acknowledged(self) -> int:
        """Number of operations acknowledged so far, by all clients."""
        with self._opening:
            return sum(log.acknowledged for log in self._logs)

    @property
    def ended(self) -> int:
        """Number of operations that ended so far, with any outcome."""
        with self._opening:
            return sum(log.ended for log in self._logs)

    @property
    def clients(self) -> int:
        """How many logs were opened, which is the number of the next client."""
        with self._opening:
            return len(self._logs)

    def operations(self, first: int = 0) -> list[Operation]:
        """The operations of the clients from this number on, in order of invocation; of all by default."""
        with self._opening:
            logs = self._logs[first:]
        return sorted((operation for log in logs for operation in log.operations()), key=lambda operation: operation.invoked)
