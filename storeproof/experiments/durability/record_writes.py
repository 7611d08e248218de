"""A client that writes single records, several fields of some, some groups, and some with a time to live or an entry in an index.

Some keys are new and private (each is one record at risk), some are private and overwritten or deleted, and some are shared by all clients,
so that writes of one key overlap.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from storeproof.contract import Collection, Key, Layout, Session, call, supports
from storeproof.experiments.client import Strategy
from storeproof.experiments.durability.atomic_groups import AtomicWrite, Begun, Groups
from storeproof.history import ClientLog, Place, RequestOutcome
from storeproof.records.beside.expiries import can_expire, seconds_of
from storeproof.records.beside.index_entries import has_entries, make_indexed
from storeproof.records.beside.places import ENTRY, EXPIRY, PlaceBeside
from storeproof.records.hash_halves import fields_of, half_key, halved
from storeproof.records.self_verifying import recipe, write_id
from storeproof.spec.model import CounterRecord, Hash

_SLOTS: Final = 8
"""The number of keys that are overwritten repeatedly: per client, and shared by all."""

_SHARED: Final = 0

_GROUPS: Final = 0.15
"""The share of group writes, if the store has them."""

_EXPIRING: Final = 0.2
"""The share of writes of records that have a time to live, or had one, if the client writes them."""
_INDEXED: Final = 0.2
"""The share of writes of records whose entry in an index is looked at, if their collection has one."""
_UNINDEXED: Final = 0.25
"""The share of deletes among these."""
_KEYS_BESIDE: Final = 2
"""Of each of these kinds: few, so that most are overwritten."""

_UPDATES: Final = 0.25
"""The share of updates of several fields among the writes of hashes, if the store has them."""

_KINDS: Final = ("new", "overwrite", "delete", "shared", "shared delete")
_WEIGHTS: Final = (50, 15, 10, 15, 10)


def key(layout: Layout, period: int, owner: int, number: int) -> Key:
    """A key that belongs to one period of load and one owner (0: shared; client + 1 otherwise)."""
    if layout.model.key == "integer":
        return ((period << 12 | owner) << 32) + number
    return f"p{period}:{'shared' if owner == _SHARED else f'c{owner - 1}'}:{number}"


def writable(session: Session, layout: Layout) -> Collection | None:
    """The collection, if the adapter can write records and read them back; else None."""
    collection = session.collection(layout)
    writes = ("increment",) if isinstance(layout.model.record, CounterRecord) else ("put", "delete")
    return collection if all(supports(collection, operation) for operation in ("get", *writes)) else None


class RecordWrites(Strategy):
    """Puts, deletes, updates of several fields and increments over all models."""

    most_refusals = 20
    """After that the client stops: the store refuses everything, for example because its disk is full."""

    def __init__(
        self,
        layouts: Mapping[str, Layout],
        log: ClientLog,
        period: int,
        rng: random.Random,
        atomic: frozenset[AtomicWrite] = frozenset(),
        *,
        expiring: bool = False,
        begun: Begun | None = None,
    ) -> None:
        """
        Args:
            atomic: how the store claims to write several records together.
            expiring: whether some records get a time to live.
            begun: the groups of all clients, of which a transaction may read; None: there are no others.
        """
        self._layouts = layouts
        self._log = log
        self._period = period
        self._rng = rng
        self._atomic = atomic
        self._expiring = expiring
        self._begun = Begun() if begun is None else begun
        self._sequence = 0
        self._found_nothing = False
        """Whether the last request was a delete, and there was no record."""
        self._keys = dict.fromkeys(layouts, _SLOTS)
        """The number of its own keys so far in each collection: the overwritten ones and the new ones."""

    def use(self, session: Session) -> None:
        """Open the collections that can be written and read."""
        layouts = self._layouts.values()
        self._targets = [(layout, collection) for layout in layouts if (collection := writable(session, layout)) is not None]
        self._updated = {
            layout.model.model
            for layout, collection in self._targets
            if isinstance(layout.model.record, Hash) and supports(collection, "set_fields")
        }
        self._groups = Groups(session, self._targets, self._atomic, self._rng, self._log, self._begun)
        self._timed = [each for each in self._targets if self._expiring and can_expire(*each)]
        self._indexed = [each for each in self._targets if has_entries(*each)]

    def request(self) -> None:
        """Send one write or one group."""
        self._found_nothing = False
        layout, collection = self._rng.choice(self._targets)
        if self._groups and self._rng.random() < _GROUPS:
            self._write_together()
        elif self._timed and self._rng.random() < _EXPIRING:
            self._write_expiring(*self._rng.choice(self._timed))
        elif self._indexed and self._rng.random() < _INDEXED:
            self._write_indexed(*self._rng.choice(self._indexed))
        elif isinstance(layout.model.record, CounterRecord):
            self._increment(layout, collection)
        elif layout.model.model in self._updated and self._rng.random() < _UPDATES:
            self._update(layout, collection)
        else:
            self._write(layout, collection)

    def end(self, outcome: RequestOutcome) -> None:
        """Record it."""
        self._log.end(outcome, lambda: False if self._found_nothing else None)

    def _increment(self, layout: Layout, collection: Collection) -> None:
        owner = self._rng.choice((_SHARED, _SHARED, self._log.client + 1))
        amount = self._rng.choice((-2, -1, 1, 2, 3, 5))
        where = key(layout, self._period, owner, self._rng.randrange(2))
        self._log.invoke("increment", (layout.model.model, where), amount=amount)
        call(collection, layout, "increment", where, amount)

    def _update(self, layout: Layout, collection: Collection) -> None:
        """Set half of the fields of a hash, which may not be there yet, by one request."""
        owner = self._rng.choice((_SHARED, self._log.client + 1))
        where, half = halved(key(layout, self._period, owner, self._rng.randrange(_SLOTS))), self._rng.randrange(2)
        new_id = self._next_write_id()
        record: Any = recipe(layout.model).make(where, new_id)
        self._log.invoke("put", (layout.model.model, half_key(where, half)), write_id=new_id)
        call(collection, layout, "set_fields", where, {name: record[name] for name in fields_of(layout, half)})

    def _write(self, layout: Layout, collection: Collection) -> None:
        kind = self._rng.choices(_KINDS, _WEIGHTS)[0]
        owner = _SHARED if kind.startswith("shared") else self._log.client + 1
        own = self._keys[layout.model.model]
        if kind == "new":
            number = own
            self._keys[layout.model.model] += 1
        else:  # most of its own keys are new ones, so that a deleted key usually exists
            number = self._rng.randrange(own if kind == "delete" else _SLOTS)
        where = key(layout, self._period, owner, number)
        if kind.endswith("delete"):
            self._log.invoke("delete", (layout.model.model, where))
            self._found_nothing = call(collection, layout, "delete", where) is False
            return
        new_id = self._next_write_id()
        record = recipe(layout.model).make(where, new_id)
        self._log.invoke("put", (layout.model.model, where), write_id=new_id)
        call(collection, layout, "put", where, record)

    def _write_expiring(self, layout: Layout, collection: Collection) -> None:
        """Write a record with a time to live, or one that lasts in its place."""
        where, places = self._with_beside(layout, EXPIRY)
        new_id = self._next_write_id()
        record, seconds = recipe(layout.model).make(where, new_id), seconds_of(new_id)
        self._log.invoke_together(places, write_id=new_id)
        if seconds is None:
            call(collection, layout, "put", where, record)
        else:
            call(collection, layout, "put_expiring", where, record, seconds)

    def _write_indexed(self, layout: Layout, collection: Collection) -> None:
        """Write a record, or delete one, and with it its entry in an index."""
        where, places = self._with_beside(layout, ENTRY)
        new_id = self._next_write_id()
        if self._rng.random() < _UNINDEXED:
            self._log.invoke_together(places, action="delete", write_id=new_id)
            self._found_nothing = call(collection, layout, "delete", where) is False
            return
        record = make_indexed(layout, where, new_id)
        self._log.invoke_together(places, write_id=new_id)
        call(collection, layout, "put", where, record)

    def _with_beside(self, layout: Layout, kind: PlaceBeside) -> tuple[str, list[Place]]:
        """The key of a record that has something beside it, and both places."""
        where = kind.record_key(key(layout, self._period, self._log.client + 1, self._rng.randrange(_KEYS_BESIDE)))
        return where, [(layout.model.model, each) for each in (where, kind.key(where))]

    def _write_together(self) -> None:
        way, targets, numbers = self._groups.choose()
        new_id = self._next_write_id()
        keys = [key(layout, self._period, self._log.client + 1, number) for (layout, _), number in zip(targets, numbers, strict=True)]
        places = [(layout.model.model, where) for (layout, _), where in zip(targets, keys, strict=True)]
        self._log.invoke_together(places, write_id=new_id)
        self._groups.write(way, targets, keys, new_id)

    def _next_write_id(self) -> str:
        self._sequence += 1
        return write_id(self._log.client, self._sequence)
