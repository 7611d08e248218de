"""Groups of records that are written atomically: in batches and transactions, if the store claims that these are atomic.

No other client writes the keys of a group. Half of the groups are new; the others replace an earlier group of the same client completely,
so that a half-done replacement shows as two write ids.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Literal

from storeproof.contract import Collection, Key, Layout, Record, Refused, Session, Unsupported, call, supports
from storeproof.contract.sessions import Transactions
from storeproof.records.self_verifying import recipe
from storeproof.spec import Target
from storeproof.spec.model import CounterRecord

AtomicWrite = Literal["batch", "transaction"]
"""How several records are written together."""

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


class Groups:
    """The groups that one client can write."""

    def __init__(
        self, session: Session, targets: Sequence[tuple[Layout, Collection]], ways: frozenset[AtomicWrite], rng: random.Random
    ) -> None:
        """`targets`: the collections that the client writes; counters have no write ids, and are left out."""
        self._session = session
        self._rng = rng
        self._targets = [pair for pair in targets if not isinstance(pair[0].model.record, CounterRecord)]
        self._batched = [pair for pair in self._targets if supports(pair[1], "put_many")]
        self._ways: list[AtomicWrite] = []
        if "batch" in ways and self._batched:
            self._ways.append("batch")
        if "transaction" in ways and self._targets and isinstance(session, Transactions):
            self._ways.append("transaction")
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
        session = self._session
        assert isinstance(session, Transactions)
        session.begin("read_committed")
        try:
            for (layout, collection), key, record in zip(targets, keys, records, strict=True):
                call(collection, layout, "put", key, record)
            session.commit()
        except (Refused, Unsupported):
            session.rollback()
            raise
