"""Groups under faults, against a store in this process: one that keeps them whole passes, one that splits them is caught by that alone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest

from storeproof.check import Anomaly
from storeproof.contract import Key, Layout, Record, Unknown
from storeproof.experiments.durability.atomic_groups import SIZE, AtomicWrite, atomic_writes
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.outcome import Outcome
from storeproof.spec.interleaving import Isolation
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory import Handle, Records, Session, Store, subject
from tests.experiments.durability.servers.struck_records import struck
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
SCALE = DurabilityScale(rounds=5, clients=4, load_seconds=(0.02, 0.06))


class Splitting(Store):
    """Has half of a group on disk before it looks at the other half: a kill in between splits it."""


def together(session: Session, changes: Sequence[tuple[str, Key, Record]]) -> None:
    """Write several records: at once, or with a pause in the middle."""
    store = session.store
    halves = (changes[: SIZE // 2], changes[SIZE // 2 :]) if isinstance(store, Splitting) else (changes,)
    for half in halves:
        with store.lock:
            if not store.alive or session.generation != store.generation:
                raise Unknown("connection lost")
            for change in half:
                store.stored(*change)
        if half is not halves[-1]:
            time.sleep(0.003)


class Batched(Records):
    """Takes batches."""

    def put_many(self, records: Mapping[Key, Record]) -> None:
        together(self._session, [(self._name, key, record) for key, record in records.items()])


class Transacting(Session):
    """Transactions that are written at their commit."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.open: list[tuple[str, Key, Record]] | None = None

    def collection(self, layout: Layout) -> Records:
        return Postponed(self, layout)

    def begin(self, isolation: Isolation) -> None:
        self.open = []

    def commit(self) -> None:
        changes, self.open = self.open or [], None
        together(self, changes)

    def rollback(self) -> None:
        self.open = None


class Postponed(Records):
    """Keeps what belongs to the open transaction of its session."""

    def put(self, key: Key, record: Record) -> None:
        assert isinstance(self._session, Transacting)
        if self._session.open is None:
            super().put(key, record)
        else:
            self._session.open.append((self._name, key, record))


class Batching(Session):
    """Sessions whose collections take batches."""

    def collection(self, layout: Layout) -> Records:
        return Batched(self, layout)


SESSIONS: dict[AtomicWrite, type[Session]] = {"batch": Batching, "transaction": Transacting}


def strike(store: Store, way: AtomicWrite, *, claims: bool = True) -> DurabilitySummary:
    """All rounds of kills."""
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "hash10", "counter")}
    ways = frozenset({way}) if claims else frozenset()
    return struck(subject(Handle(store), SESSIONS[way]), "process_kill", layouts, SCALE, atomic=ways)


@pytest.mark.parametrize("way", ["batch", "transaction"])
def test_a_store_that_writes_groups_whole_passes(way: AtomicWrite) -> None:
    """No false alarm, over all rounds and both shapes."""
    summary = strike(Store(), way)
    assert summary.harmed == 0, summary.detail()
    assert summary.outcome(claimed=True) is Outcome.PASS


@pytest.mark.parametrize("way", ["batch", "transaction"])
def test_a_store_that_breaks_off_in_the_middle_of_a_group_is_caught_by_that_alone(way: AtomicWrite) -> None:
    """Nothing acknowledged is lost: each record is what its own key may hold."""
    summary = strike(Splitting(), way)
    assert summary.anomalies[Anomaly.SPLIT] > 0
    assert set(summary.anomalies) == {Anomaly.SPLIT, Anomaly.OK}
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert "split: found of 4 written together" in summary.detail()


def test_who_does_not_claim_it_is_not_asked() -> None:
    """A batch need not be atomic."""
    assert strike(Splitting(), "batch", claims=False).harmed == 0


def test_what_a_variant_claims_goes_before_what_its_store_claims() -> None:
    """MyISAM and Aria have neither; InnoDB both."""
    ways = {target.variant: atomic_writes(target) for target in SHIPPED.targets(["mariadb:all"])}
    assert ways["innodb-flush-1"] == {"batch", "transaction"}
    assert ways["aria"] == frozenset()
    assert ways["myisam"] == frozenset()
