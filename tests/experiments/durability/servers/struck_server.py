"""Strikes of a store in this process that is one server, whose transactions write all at once; and lies."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from storeproof.contract import Key, Layout, Record, Unknown
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.fault_experiment import Subject
from storeproof.faults import find
from storeproof.spec.interleaving import Isolation
from storeproof.spec.scale import DurabilityScale
from tests.experiments import judged_again
from tests.experiments.durability.memory import Handle, Records, Session, Store, subject

ROUNDS = 2
SCALE = DurabilityScale.model_construct(rounds=ROUNDS, clients=4, load_seconds=(0.01, 0.03))
_WRITE_SECONDS = 0.0005
"""So that a round has hundreds of writes, and not tens of thousands."""

Write = tuple[str, Key, Callable[[Any], Record]]
"""Collection, key, and what makes the new record of the old one."""


class Atomic(Session):
    """A transaction is on disk at once when it is committed. Lies override `apply`."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.writes: list[Write] = []
        self.snapshot: Mapping[str, Mapping[Key, Record]] | None = None

    def collection(self, layout: Layout) -> Records:
        return Noted(self, layout)

    def begin(self, isolation: Isolation) -> None:
        with self.store.lock:
            self.writes, self.snapshot = [], deepcopy(self.store.memory) if isolation == "repeatable_read" else None

    def commit(self) -> None:
        writes, self.writes, self.snapshot = self.writes, [], None
        time.sleep(_WRITE_SECONDS)
        with self.store.lock:
            if not self.store.alive or self.generation != self.store.generation:
                raise Unknown("connection lost")
            self.apply(writes)

    def rollback(self) -> None:
        self.writes, self.snapshot = [], None

    def apply(self, writes: list[Write]) -> None:
        """All of them."""
        for name, key, new in writes:
            self.store.stored(name, key, new(self.store.memory[name].get(key)))


class Noted(Records):
    """What is written in a transaction is only noted; a snapshot was read when it began."""

    _session: Atomic

    def get(self, key: Key) -> Record | None:
        if self._session.snapshot is not None:
            return self._session.snapshot[self._name].get(key)
        return super().get(key)

    def put(self, key: Key, record: Record) -> None:
        self._session.writes.append((self._name, key, lambda _: record))

    def increment(self, key: Key, by: int) -> int:
        self._session.writes.append((self._name, key, lambda old: (old or 0) + by))
        return by


class Forgetful(Store):
    """Writes to disk every fourth write, and acknowledges all."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def flush(self, name: str, key: Key) -> None:
        self.writes += 1
        if self.writes % 4 == 0:
            super().flush(name, key)


class Snapshots(Store):
    """Has on disk what it had in memory a moment ago: what is lost is lost whole."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 0.0

    def flush(self, name: str, key: Key) -> None:
        pass

    def keep(self) -> None:
        """Between two transactions."""
        if time.monotonic() - self.at > 0.05:
            self.disk = deepcopy(self.memory)
            self.at = time.monotonic()


class Checkpointed(Atomic):
    """Its store writes a checkpoint before a transaction, when it is time."""

    def apply(self, writes: list[Write]) -> None:
        assert isinstance(self.store, Snapshots)
        self.store.keep()
        super().apply(writes)


def strike(store: Store, fault: str, session: type[Session], workload: Callable[[Subject], FaultWorkload[ServerStrike]]) -> Handle:
    """All rounds."""
    store.begin()
    handle = Handle(store)
    where = subject(handle, session)
    judged_again.run(StrikeRounds(where, [lambda: ServerStrike(where, find(fault))] * ROUNDS, workload(where)))
    return handle
