"""The load for linearizability: several clients read and write the same few keys, and every answer is recorded.

Each write id is written once, so that a read shows whose write it returned. No key gets more operations than the check can handle: a client
has a number of operations for each key, and stops when all of them are used.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from storeproof.check import MOST_CLIENTS, MOST_OPERATIONS
from storeproof.contract import Collection, Key, Layout, Session, Unsupported, call, supports
from storeproof.errors import NotAvailable
from storeproof.experiments.client import Client, Strategy, open_clients, raise_unknown, under_load
from storeproof.experiments.client_threads import wait_for
from storeproof.halt import halt
from storeproof.history import Action, Answer, ClientLog, Operation, Place, Recorder, RequestOutcome
from storeproof.outcome import Lack
from storeproof.records.self_verifying import identify, record, write_id
from storeproof.spec.store import Target

SPARE: Final = 40
"""Operations of a key that are reserved for the clients that read it at the end."""

SHARE: Final = (MOST_OPERATIONS - SPARE) // MOST_CLIENTS
"""The maximum number of operations of each client on each key."""

_KEYS: Final = 2
"""Keys of each type in a round."""

_AFTER: Final = 2
"""Clients that continue after a fault; before that the first one reads every key."""


@dataclass(frozen=True, eq=False)
class KeyType:
    """The operations on a key, with their weights."""

    name: str
    model: str
    weights: Mapping[Action, int]

    def missing(self, session: Session, layout: Layout) -> str | None:
        """The first operation that it needs and the store does not have, or None."""
        collection = session.collection(layout)
        return next((operation for operation in self.weights if not supports(collection, operation)), None)


REGISTER: Final = KeyType("register", "single_key", {"get": 5, "put": 4, "delete": 1})
COMPARE_AND_SET: Final = KeyType(
    "compare-and-set", "single_key", {"get": 3, "put": 1, "compare_and_set": 4, "put_if_absent": 2, "delete": 1}
)
COUNTER: Final = KeyType("counter", "counter", {"get": 1, "increment": 2})
KEY_TYPES: Final = (REGISTER, COMPARE_AND_SET, COUNTER)


@dataclass(frozen=True, eq=False)
class ContendedKey:
    """One key; compared by identity."""

    type: KeyType
    layout: Layout
    key: Key

    @property
    def place(self) -> Place:
        """The place in the history: the keys of each type have their own collection."""
        return self.type.name, self.key


class ContendedKeys(Strategy):
    """Reads and writes of keys that other clients read and write too."""

    def __init__(
        self,
        log: ClientLog,
        keys: Sequence[ContendedKey],
        share: int,
        rng: random.Random,
        first: Sequence[ContendedKey] = (),
        most_unknown: int = MOST_OPERATIONS,
    ) -> None:
        """
        Args:
            share: maximum number of operations on each key.
            first: keys to read before, which do not count.
            most_unknown: writes without an answer, after which the client only reads: each makes the search for an order longer.
        """
        self._log = log
        self._left = dict.fromkeys(keys, share)
        self._rng = rng
        self._first = list(first)
        self._may_be_unknown = most_unknown
        self._last_seen: dict[ContendedKey, str] = {}
        """The last write id that it knows for each key, for compare-and-set."""
        self._sequence = 0
        self._reply: Any = None

    @property
    def exhausted(self) -> bool:
        """Whether no operations are left for any key."""
        return not self._first and not any(self._left.values())

    def use(self, session: Session) -> None:
        """Open a collection for each type of key."""
        self._collections: dict[str, Collection] = {key.layout.name: session.collection(key.layout) for key in self._left}

    def request(self) -> None:
        key, action = self._choose()
        self._sequence += 1
        writes = action in ("put", "compare_and_set", "put_if_absent")
        new_id = write_id(self._log.client, self._sequence) if writes else ""
        expected = self._last_seen[key] if action == "compare_and_set" else ""
        amount = self._rng.choice((1, 1, 2, 3)) if action == "increment" else 0
        args: list[Any] = [key.key]
        args += [record(key.layout.model, key.key, each) for each in (expected, new_id) if each]
        args += [amount] if amount else []
        self._under_way, self._reply = (key, action, new_id), None
        self._log.invoke(action, key.place, write_id=new_id, expected=expected, amount=amount)
        self._reply = call(self._collections[key.layout.name], key.layout, action, *args)

    def end(self, outcome: RequestOutcome) -> None:
        """Record the answer, and remember the value of the key."""
        key, action, new_id = self._under_way
        self._may_be_unknown -= outcome == "unknown" and action != "get"

        def answer() -> Answer:
            found = _answer(key, action, self._reply)
            if action == "get" and isinstance(found, str):
                self._last_seen[key] = found
            elif new_id and outcome == "ok" and (action == "put" or found is True):
                self._last_seen[key] = new_id
            return found

        self._log.end(outcome, answer)

    def _choose(self) -> tuple[ContendedKey, Action]:
        if self._first:
            return self._first.pop(0), "get"
        key = self._rng.choice([each for each, left in self._left.items() if left])
        self._left[key] -= 1
        if self._may_be_unknown <= 0:
            return key, "get"
        action = self._rng.choices(list(key.type.weights), list(key.type.weights.values()))[0]
        return key, "get" if action == "compare_and_set" and key not in self._last_seen else action


def work_together(clients: Sequence[Client]) -> None:
    """Start all clients at once, and wait until each has used its operations.

    Raises:
        Unknown: one of them lost its connection.
        Breach: an adapter broke the contract.
        Halted: they did not end in the time that the case may take.
    """
    with under_load(clients) as load:
        ended = wait_for(load.threads)
    if not ended:
        halt.check("the end of its clients")
    raise_unknown(clients)


def read_and_go_on(keys: Sequence[ContendedKey], client: Callable[[int, Sequence[ContendedKey]], Client]) -> None:
    """After a fault: read every key, and then continue with more operations on them.

    Args:
        client: makes a client with this number of operations on each key, which reads these keys first.

    Raises:
        Unknown, Breach: as `work_together`.
    """
    reads = iter([keys])
    clients = open_clients(_AFTER, lambda: client(SPARE // _AFTER // 2, next(reads, ())))
    try:
        for _ in keys:
            clients[0].step()
    except BaseException:
        for each in clients:
            each.close()
        raise
    work_together(clients)


def operations_on(recorder: Recorder, keys: Iterable[ContendedKey]) -> list[Operation]:
    """What all clients did to these keys, in the order of their requests."""
    places = {key.place for key in keys}
    return [each for each in recorder.operations() if each.place in places]


def _answer(key: ContendedKey, action: Action, reply: Any) -> Answer:
    """As the check has it: the write id of a record that is whole, else what is wrong with it, which no client wrote."""
    if action == "get" and reply is not None and key.type is not COUNTER:
        seen = identify(key.layout.model, key.key, reply)
        return seen.write_id or f"({seen.kind})"
    answer: Answer = reply
    return answer


def keys_of_round(layouts: Mapping[KeyType, Layout], number: int) -> list[ContendedKey]:
    """New keys of each type for a round, so that none is checked with what an earlier round did. `number`: of the round."""
    return [ContendedKey(type_, layout, f"round{number}:hot{place}") for type_, layout in layouts.items() for place in range(_KEYS)]


def claimed_layouts(session: Session, target: Target, layout: Callable[[str], Layout]) -> dict[KeyType, Layout]:
    """A collection for each type of key whose model the store claims and whose operations it has. `layout`: makes that of a model.
    Raises `NotAvailable`: there is none."""
    found: dict[KeyType, Layout] = {}
    for key_type in KEY_TYPES:
        if key_type.model not in target.store.claims.models:
            continue
        made = layout(key_type.model)
        try:
            if key_type.missing(session, made) is None:
                found[key_type] = made
        except Unsupported:
            continue  # claimed and refused: correctness fails on it
    if not found:
        names = ", ".join(key_type.name for key_type in KEY_TYPES)
        raise NotAvailable(f"{target.id} claims no model with the operations of these tests: {names}", lack=Lack.MODELS)
    return found
