"""Serializable transactions of a store in this process, or of the nodes of a cluster: a commit is refused if what it read has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from storeproof.contract import Key, Layout, Record, Refused, Unknown
from storeproof.spec.interleaving import Isolation
from tests.experiments.durability.memory import Records, Session, Store
from tests.experiments.durability.memory_cluster import NodeStore

Place = tuple[str, Key]
_COMMIT_SECONDS = 0.0005
"""So that a round has hundreds of transactions, and not thousands."""


class Isolated(Session):
    """All reads are of the moment of its begin. Lies override `outdated` or `install`."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.snapshot: Mapping[str, Mapping[Key, Record]] = {}
        self.read: dict[Place, Record | None] = {}
        self.writes: dict[Place, Record] = {}

    def collection(self, layout: Layout) -> Records:
        return Seen(self, layout)

    def begin(self, isolation: Isolation) -> None:
        with self._running():
            self.snapshot = {name: dict(records) for name, records in self.store.memory.items()}
            self.read, self.writes = {}, {}

    def commit(self) -> None:
        time.sleep(_COMMIT_SECONDS)
        with self._running() as stores:
            if self.writes and isinstance(self.store, NodeStore):
                if self.store.follows:
                    raise Refused("it is a replica")
                if self.store.cluster.synchronous and len(stores) == 1:
                    raise Refused("no replica hears it")
            if self.outdated():
                raise Refused("another transaction has changed what it read")
            for each in stores:
                self.install(each)

    def rollback(self) -> None:
        self.writes = {}

    def outdated(self) -> bool:
        """Whether another transaction contradicts it."""
        return any(self.store.memory[name].get(key) != found for (name, key), found in self.read.items())

    def install(self, store: Store) -> None:
        """All of its writes."""
        for (name, key), record in self.writes.items():
            Store.stored(store, name, key, record)

    @contextmanager
    def _running(self) -> Iterator[list[Store]]:
        """Its store and those that hear it, while no other session changes them. Raises `Unknown`: it was killed meanwhile."""
        with ExitStack() as locks:
            locks.enter_context(self.store.lock)
            if not self.store.alive or self.generation != self.store.generation:
                raise Unknown("connection lost")
            others = self.store.cluster.hearing(self.store) if isinstance(self.store, NodeStore) and self.writes else []
            if isinstance(self.store, NodeStore) and self.store.follows:
                others = []  # it does not write, and two that wait for each other's lock would wait for ever
            for each in others:
                locks.enter_context(each.lock)
            yield [self.store, *others]


class Seen(Records):
    """A collection, as a transaction sees it."""

    _session: Isolated

    def get(self, key: Key) -> Any:
        session, place = self._session, (self._name, key)
        with self._store.lock:
            self._open()
        if place in session.writes:
            return session.writes[place]
        session.read[place] = session.snapshot[self._name].get(key)
        return session.read[place]

    def put(self, key: Key, record: Record) -> None:
        with self._store.lock:
            self._open()
        self._session.writes[self._name, key] = record


class Told(Isolated):
    """Tells what was committed, so that `forget_one` can choose."""

    commits: ClassVar[list[tuple[dict[Place, Record | None], dict[Place, Record]]]] = []
    """What each has read and written, in order."""

    def install(self, store: Store) -> None:
        if store is self.store and self.writes:
            self.commits.append((dict(self.read), dict(self.writes)))
        super().install(store)


def forget_one(records: dict[str, dict[Key, Record]]) -> None:
    """Take back a commit of which a later one has read, without replacing it, what it wrote; that one stays."""
    for read, writes in reversed(Told.commits):
        for place, found in read.items():
            if found is None or place in writes:
                continue
            before = next(then[place] for then, wrote in Told.commits if wrote.get(place) == found)
            name, key = place
            if before is None:
                del records[name][key]
            else:
                records[name][key] = before
            Told.commits.clear()
            return
    raise AssertionError("no transaction has read what another one wrote")
