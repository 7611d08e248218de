"""Groups of records that are written atomically: in batches and transactions, if the store claims that these are atomic.

No other client writes the keys of a group. Half of the groups are new; the others replace an earlier group of the same client completely,
so that a half-done replacement shows as two write ids.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Literal

from storeproof.contract import Collection, Key, Layout, Record, Session, call, supports
from storeproof.contract.open_transaction import transaction
from storeproof.contract.sessions import Transactions
from storeproof.history import ClientLog
from storeproof.records.hash_halves import observed
from storeproof.records.self_verifying import recipe
from storeproof.spec import Target
from storeproof.spec.model import CounterRecord

AtomicWrite = Literal["batch", "transaction", "reading transaction"]
"""How several records are written together. A reading transaction begins with a look at the group that another client began last."""

SIZE = 4
"""Records of a group."""

FIRST = 1 << 20
"""The first key number, above those of records that are written singly."""

_AGAIN = 4
"""The number of groups, for each client and kind of atomic write, that are replaced repeatedly."""


def atomic_writes(target: Target) -> frozenset[AtomicWrite]:
    """The kinds of atomic writes that a variant claims."""
    found: set[AtomicWrite] = set()
    if target.atomic_batches:
        found.add("batch")
    if target.claims("transactions.commit"):
        found.add("transaction")
    return frozenset(found)


def reading(ways: frozenset[AtomicWrite]) -> frozenset[AtomicWrite]:
    """The same, and each transaction reads what another client wrote, perhaps before that was told so."""
    return frozenset("reading transaction" if way == "transaction" else way for way in ways)


class Begun:
    """The first key of the group that each client began last. Written by each client's thread, and read by all."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[str, Key]] = {}

    def note(self, client: int, model: str, key: Key) -> None:
        """A client begins another group; it is the last one now."""
        self._last.pop(client, None)
        self._last[client] = model, key

    def of_another(self, client: int) -> tuple[str, Key] | None:
        """The model and key that another client noted last; None: there is none."""
        return next((place for other, place in reversed(list(self._last.items())) if other != client), None)


class Groups:
    """The groups that one client can write."""

    def __init__(
        self,
        session: Session,
        targets: Sequence[tuple[Layout, Collection]],
        ways: frozenset[AtomicWrite],
        rng: random.Random,
        log: ClientLog,
        begun: Begun,
    ) -> None:
        """`targets`: the collections that the client writes; counters have no write ids, and are left out."""
        self._session = session
        self._log = log
        self._begun = begun
        self._rng = rng
        self._targets = [pair for pair in targets if not isinstance(pair[0].model.record, CounterRecord)]
        self._batched = [pair for pair in self._targets if supports(pair[1], "put_many")]
        self._ways: list[AtomicWrite] = []
        if "batch" in ways and self._batched:
            self._ways.append("batch")
        if self._targets and isinstance(session, Transactions):
            self._ways += sorted(ways - {"batch"})
        self._new = _AGAIN

    def __bool__(self) -> bool:
        return bool(self._ways)

    def choose(self) -> tuple[AtomicWrite, list[tuple[Layout, Collection]], list[int]]:
        """Choose a kind of atomic write and, for each record, its collection and the number of its key."""
        way = self._rng.choice(self._ways)
        if again := self._rng.random() < 0.5:
            number = self._rng.randrange(_AGAIN)
        else:
            number, self._new = self._new, self._new + 1
        numbers = [FIRST + ((number * 2 + (way == "batch")) * SIZE) + member for member in range(SIZE)]
        if way == "batch":
            # A number always has the same collection, since a replacement must have the keys of the group that it replaces.
            return way, [self._batched[number % len(self._batched)]] * SIZE, numbers
        first = number if again else self._rng.randrange(len(self._targets))
        return way, [self._targets[(first + member) % len(self._targets)] for member in range(SIZE)], numbers

    def write(self, way: AtomicWrite, targets: Sequence[tuple[Layout, Collection]], keys: Sequence[Key], write_id: str) -> None:
        """Write the group.

        Raises:
            Refused: no record was written.
            Unknown: all records may have been written, or none.
        """
        records: list[Record] = [recipe(layout.model).make(key, write_id) for (layout, _), key in zip(targets, keys, strict=True)]
        if way == "batch":
            layout, collection = targets[0]
            batch: Mapping[Key, Record] = dict(zip(keys, records, strict=True))
            call(collection, layout, "put_many", batch)
            return
        other = self._begun.of_another(self._log.client) if way == "reading transaction" else None
        self._begun.note(self._log.client, targets[0][0].model.model, keys[0])
        with transaction(self._session, "read_committed"):
            if other is not None:
                self._look(*other)
            for (layout, collection), key, record in zip(targets, keys, records, strict=True):
                call(collection, layout, "put", key, record)

    def _look(self, model: str, key: Key) -> None:
        """Read a record of another client's group, and note which write of it is there."""
        layout, collection = next(pair for pair in self._targets if pair[0].model.model == model)
        found = observed(layout, key, call(collection, layout, "get", key))
        if found.sight == "whole":
            self._log.has_read(found.write_id)
