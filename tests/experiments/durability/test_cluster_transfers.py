"""Transfers through faults of a cluster in this process: one whose transactions are atomic passes, and those that lie are caught."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import pytest

from storeproof.contract import Key, Layout, Record, Refused, Unknown
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.durability.workloads.transfers import Transfers
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.outcome import Outcome
from storeproof.spec.interleaving import Isolation
from storeproof.spec.scale import DurabilityScale
from tests.experiments import judged_again
from tests.experiments.durability.memory import Records, Session, Store
from tests.experiments.durability.memory_cluster import Kill, MemoryCluster, NodeStore, subject
from tests.shipped import SHIPPED

SCALE = DurabilityScale.model_construct(rounds=1, clients=4, load_seconds=(0.01, 0.03))
LAYOUTS = {name: Layout(f"c_{name}", SHIPPED.models[name]) for name in (ENTRIES, ACCOUNTS)}

Write = tuple[str, Key, Callable[[Any], Record]]
"""Collection, key, and what makes the new record of the old one."""


class Atomic(Session):
    """What a transaction writes its node and those that hear it get at once, when it is committed. Lies override a method."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.writes: list[Write] = []
        self.snapshot: Mapping[str, Mapping[Key, Record]] | None = None

    def collection(self, layout: Layout) -> Records:
        return Written(self, layout)

    def begin(self, isolation: Isolation) -> None:
        with self.store.lock:
            self.writes, self.snapshot = [], deepcopy(self.store.memory) if isolation == "repeatable_read" else None

    def commit(self) -> None:
        store, writes, self.writes, self.snapshot = self.store, self.writes, [], None
        assert isinstance(store, NodeStore)
        if not writes:
            return
        with store.lock:
            time.sleep(0.0005)
            if not store.alive:
                raise Unknown("connection lost")
            if store.follows:
                raise Refused("it is a replica")
            hearing = store.cluster.hearing(store)
            self.apply(store, self.here(writes))
            for each in hearing:
                with each.lock:
                    self.apply(each, self.there(writes))
            if store.cluster.synchronous and not hearing:
                raise Unknown("no replica has it")

    def rollback(self) -> None:
        self.writes, self.snapshot = [], None

    def here(self, writes: list[Write]) -> list[Write]:
        """What its own node gets."""
        return writes

    def there(self, writes: list[Write]) -> list[Write]:
        """What the others get."""
        return writes

    @staticmethod
    def apply(store: NodeStore, writes: list[Write]) -> None:
        for name, key, new in writes:
            Store.stored(store, name, key, new(store.memory[name].get(key)))


class Written(Records):
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


class HalfReplicated(Atomic):
    """The replicas get a transaction record by record, and now and then one is missing."""

    def there(self, writes: list[Write]) -> list[Write]:
        return writes[:-1] if time.monotonic_ns() % 4 == 0 else writes


class Twice(Atomic):
    """The driver sends it again when the answer is late, and it is done again."""

    def there(self, writes: list[Write]) -> list[Write]:
        return writes * 2 if time.monotonic_ns() % 4 == 0 else writes


class Overwritten(Atomic):
    """Sums are made when the transaction begins: the last one wins."""

    def collection(self, layout: Layout) -> Records:
        return Overwriting(self, layout)


class Overwriting(Written):
    def increment(self, key: Key, by: int) -> int:
        old: Any = Records.get(self, key) or 0
        time.sleep(0.0002)
        self._session.writes.append((self._name, key, lambda _: old + by))
        return by


class Unfaithful(Atomic):
    """Says that it rolled back what it committed."""

    def commit(self) -> None:
        commits = bool(self.writes)
        super().commit()
        if commits and time.monotonic_ns() % 4 == 0:
            raise Refused("serialization failure")


class Skewed(Atomic):
    """A snapshot is what is there when each record is read, and writes come one by one."""

    def begin(self, isolation: Isolation) -> None:
        self.writes, self.snapshot = [], None

    @staticmethod
    def apply(store: NodeStore, writes: list[Write]) -> None:
        for write in writes:
            Atomic.apply(store, [write])
            store.lock.release()
            time.sleep(0.005)  # clients are paced: a snapshot has to fall into it
            store.lock.acquire()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real cluster needs seconds for, this one does at once."""
    for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
        monkeypatch.setattr(cluster_strike, name, 0.1)


def struck(cluster: MemoryCluster, fault: ClusterFault, session: type[Atomic] = Atomic) -> TransferSummary:
    """A round."""
    summary = TransferSummary()
    where = subject(cluster, session=session)
    strike = ClusterStrike(where, fault, lambda address: session(cluster.stores[address.host]))
    judged_again.run(StrikeRounds(where, [lambda: strike], Transfers(where, LAYOUTS, SCALE, summary)))
    return summary


@pytest.mark.parametrize("fault", [IsolatePrimary(), Kill()], ids=["isolate", "kill"])
def test_atomic_transactions_that_wait_for_a_replica_pass(fault: ClusterFault) -> None:
    """What an isolated primary does not acknowledge is unknown, and gone."""
    summary = struck(MemoryCluster(synchronous=True), fault, Atomic)
    assert (summary.losses, summary.halves) == ([], [])
    assert summary.strikes == {fault.name: 1}
    assert min(summary.acknowledged, summary.snapshots) > 5
    assert summary.unknown > 0
    assert "each acknowledged one is there, and all are whole" in summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.PASS, Outcome.UNDECLARED)


def test_transfers_that_were_acknowledged_alone_are_lost_whole() -> None:
    """A failure where the guarantee is claimed. That nothing is half is claimed by transactions, and kept."""
    summary = struck(MemoryCluster(synchronous=False), IsolatePrimary())
    assert summary.lost > 0
    assert summary.halves == []
    assert "in rounds of isolate_primary 1 of 1; each is there whole or not at all" in summary.detail()
    assert "s from the fault" in summary.detail()
    (course,) = summary.cluster_rounds
    assert (course.lost, course.acknowledged) == (summary.lost, summary.acknowledged)
    assert {each.node for each in course.spans if each.lost} == {course.struck}
    assert f"by {course.struck}, +0." in course.wrong[0]
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


@pytest.mark.parametrize(
    ("lie", "found"),
    [
        (HalfReplicated, "and the transfers that happened add up to"),
        (Twice, "and the transfers that happened add up to"),
        (Overwritten, "and the transfers that happened add up to"),
        (Unfaithful, "refused, and there"),
        (Skewed, "and not to 0"),
    ],
)
def test_a_cluster_whose_transactions_lie_is_caught(lie: type[Atomic], found: str) -> None:
    """It is a failure also of a variant that claims nothing of nodes."""
    summary = struck(MemoryCluster(synchronous=True), IsolatePrimary(), lie)
    assert found in summary.detail()
    assert "halves of transfers, in rounds of isolate_primary 1 of 1" in summary.detail()
    assert summary.losses == []
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.FAIL)
    assert summary.unexcused == summary.findings
