"""A few keys that several clients read and write at once, and every answer noted: the load for linearizability.

Each value is written once, so that a read says whose write it saw. No key gets more operations than the check can go through: a client has
a share of them for each key, and stops when all are used up.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any, Final

from storeproof.check import MOST_CLIENTS, MOST_OPERATIONS
from storeproof.contract import Collection, Key, Layout, Refused, Session, Unknown, Unsupported, call, supports
from storeproof.experiments.client_threads import running
from storeproof.history import Access, AccessAction, Answer, Ending
from storeproof.records.self_verifying import identify, record, write_id

SPARE: Final = 40
"""Operations of a key that are left to those who look at it in the end."""

SHARE: Final = (MOST_OPERATIONS - SPARE) // MOST_CLIENTS
"""Operations that each client may do on each key, at most."""


@dataclass(frozen=True, eq=False)
class Kind:
    """What is done to a key."""

    name: str
    model: str
    weights: Mapping[AccessAction, int]

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations of the contract that it needs."""
        return tuple(self.weights)


REGISTER: Final = Kind("register", "single_key", {"get": 5, "put": 4, "delete": 1})
COMPARE_AND_SET: Final = Kind("compare-and-set", "single_key", {"get": 3, "put": 1, "compare_and_set": 4, "put_if_absent": 2, "delete": 1})
COUNTER: Final = Kind("counter", "counter", {"get": 1, "increment": 2})
KINDS: Final = (REGISTER, COMPARE_AND_SET, COUNTER)


@dataclass(frozen=True, eq=False)
class Hot:
    """One hot key; each is itself alone."""

    kind: Kind
    layout: Layout
    key: Key


def able(session: Session, layout: Layout, kind: Kind) -> str | None:
    """The operation that the store has not and the kind needs, or None."""
    collection = session.collection(layout)
    return next((operation for operation in kind.operations if not supports(collection, operation)), None)


class Client:
    """One client. It never retries, and ends at its first unknown outcome: its connection is gone."""

    def __init__(self, session: Session, number: int, keys: Sequence[Hot], share: int, rng: random.Random) -> None:
        """`share`: operations on each key, at most."""
        self.number = number
        self.lost = ""
        """Why its connection is gone."""
        self.failure: BaseException | None = None
        """What no adapter may raise."""
        self._session = session
        self._collections: dict[str, Collection] = {hot.layout.name: session.collection(hot.layout) for hot in keys}
        self._left = dict.fromkeys(keys, share)
        self._seen: dict[Hot, str] = {}
        """The write id that it last knew of under a key: what it compares with."""
        self._rng = rng
        self._sequence = 0
        self._done: list[tuple[Hot, Access]] = []
        self._flying: tuple[Hot, Access] | None = None

    @property
    def count(self) -> int:
        """How many operations have ended."""
        return len(self._done)

    def run(self, go: threading.Event, stop: threading.Event, more: int = 0) -> None:
        """Work from `go` until `stop` and for some `more` operations, or until its share is used up; then end the session."""
        go.wait()
        while (not stop.is_set() or (more := more - 1) >= 0) and self.step():
            pass
        self.close()

    def step(self) -> bool:
        """One operation; False if there is no point in another."""
        open_ones = [hot for hot, left in self._left.items() if left]
        if not open_ones:
            return False
        hot = self._rng.choice(open_ones)
        self._left[hot] -= 1
        action = self._rng.choices(list(hot.kind.weights), list(hot.kind.weights.values()))[0]
        if action == "compare_and_set" and hot not in self._seen:
            action = "get"
        return self.do(hot, action)

    def do(self, hot: Hot, action: AccessAction) -> bool:
        """One operation of a kind; False if the connection is lost."""
        self._sequence += 1
        writes = action in ("put", "compare_and_set", "put_if_absent")
        value = write_id(self.number, self._sequence) if writes else ""
        expected = self._seen[hot] if action == "compare_and_set" else ""
        amount = self._rng.choice((1, 1, 2, 3)) if action == "increment" else 0
        args: list[Any] = [hot.key]
        args += [record(hot.layout.model, hot.key, each) for each in (expected, value) if each]
        args += [amount] if amount else []
        asked = (self.number, action, monotonic_ns())
        self._flying = (hot, Access(*asked, None, "unknown", value, expected, amount))
        ending: Ending = "ok"
        answer: Answer = None
        try:
            reply = call(self._collections[hot.layout.name], hot.layout, action, *args)
            completed = monotonic_ns()
            answer = _told(hot, action, reply)
        except (Refused, Unsupported):
            ending, completed = "refused", monotonic_ns()
        except Unknown as reason:
            ending, self.lost = "unknown", str(reason)
        except BaseException as reason:  # noqa: BLE001 - raised by whoever waits for this client: a thread cannot
            ending, self.failure, self.lost = "unknown", reason, str(reason)
        if ending == "unknown":
            self._done.append(self._flying)
        else:
            self._done.append((hot, Access(*asked, completed, ending, value, expected, amount, answer)))
            self._learn(hot, action, value, answer)
        self._flying = None
        return ending != "unknown"

    def accesses(self) -> list[tuple[Hot, Access]]:
        """What it did so far; what is in flight is `unknown`."""
        flying, place = self._flying, len(self._done)
        done = list(self._done)
        return [*done, flying] if flying is not None and len(done) == place else done

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _learn(self, hot: Hot, action: AccessAction, value: str, answer: Answer) -> None:
        if action == "get" and isinstance(answer, str):
            self._seen[hot] = answer
        elif value and (action == "put" or answer is True):
            self._seen[hot] = value


def work_together(clients: Sequence[Client]) -> None:
    """Let all of them begin at once, and wait until each has used up its share.

    Raises:
        Unknown: one of them lost its connection.
        Breach: what no adapter may raise.
    """
    with running([client.run for client in clients]) as load:
        for thread in load.threads:
            thread.join()
    for client in clients:
        if client.failure is not None:
            raise client.failure
        if client.lost:
            raise Unknown(client.lost)


def histories(clients: Sequence[Client]) -> dict[Hot, list[Access]]:
    """What all of them did, by key, in the order of their requests."""
    found: dict[Hot, list[Access]] = {}
    for client in clients:
        for hot, access in client.accesses():
            found.setdefault(hot, []).append(access)
    return {hot: sorted(done, key=lambda access: access.invoked) for hot, done in found.items()}


def _told(hot: Hot, action: AccessAction, reply: Any) -> Answer:
    """An answer as the check has it: the write id of a record that is whole, else what is wrong with it, which nobody wrote."""
    if action == "get" and reply is not None and hot.kind is not COUNTER:
        seen = identify(hot.layout.model, hot.key, reply)
        return seen.write_id or f"({seen.kind})"
    answer: Answer = reply
    return answer
