"""Bulk loads and compactions under faults, against a store in this process: the honest one passes, and each lie is caught by its shape."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.check import Anomaly
from storeproof.contract import Key, Layout, Record, Refused, Unsupported
from storeproof.experiments.durability import load_shapes
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.outcome import Outcome
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory import Handle, Records, Session, Store, subject
from tests.experiments.durability.servers.struck_records import struck
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
SCALE = DurabilityScale(rounds=5, clients=2, load_seconds=(0.01, 0.03))
ALL: tuple[LoadShape, ...] = ("burst", "stream", "bulk", "compaction")


@pytest.fixture(autouse=True)
def little_to_compact(monkeypatch: pytest.MonkeyPatch) -> None:
    """This store has a list in memory: what a real one needs some thousand records for, it does with a few."""
    monkeypatch.setattr(load_shapes, "_FILLS", (3,))
    monkeypatch.setattr(load_shapes, "_BATCHES", (2, 5))


class Whole(Store):
    """With batches and a compaction; both honest."""

    refusal = ""

    def batch(self, name: str, records: Mapping[Key, Record]) -> None:
        for key, record in records.items():
            self.stored(name, key, record)

    def compact(self) -> None:
        """A new disk is written beside the old one."""
        if self.refusal:
            raise Refused(self.refusal)
        with self.lock:
            fresh = {name: dict(records) for name, records in self.memory.items()}
            time.sleep(0.01)
            if self.alive:
                self.disk = fresh


class Batches(Records):
    def get(self, key: Key) -> Record | None:
        """Takes no time: an audit reads all keys."""
        with self._store.lock:
            return super()._open().get(key)

    def _open(self) -> dict[Key, Any]:
        """Every write takes a moment, in which other clients may write."""
        self._store.lock.release()
        time.sleep(0.0005)
        self._store.lock.acquire()
        return super()._open()

    def put_many(self, records: Mapping[Key, Record]) -> None:
        with self._store.lock:
            self._open()
            self._store.batch(self._name, records)  # type: ignore[attr-defined]


class Maintained(Session):
    def collection(self, layout: Layout) -> Records:
        return Batches(self, layout)

    def compact(self) -> str:
        self.store.compact()  # type: ignore[attr-defined]
        return "COMPACT"


def strike(
    store: Store, load: Sequence[LoadShape] = ALL, *, fault: str = "process_kill", second: bool = True, session: type[Session] = Maintained
) -> tuple[DurabilitySummary, Handle]:
    """All rounds."""
    handle = Handle(store)
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "counter")}
    return struck(subject(handle, session), fault, layouts, SCALE, load=load, second=second), handle


@pytest.mark.parametrize("fault", ["process_kill", "power_cut"])
def test_an_honest_store_keeps_everything_in_every_shape(fault: str) -> None:
    """No false alarm in any of the four shapes of load."""
    summary, _ = strike(Whole(), fault=fault)
    assert summary.outcome(claimed=True) is Outcome.PASS, summary.detail()
    assert (summary.bursts, summary.streams, summary.bulks, summary.compactions, summary.rounds) == (5, 5, 5, 5, 20)
    assert summary.second_faults == 15, "all but the bursts are struck again while the store recovers"
    assert not summary.without


def test_every_shape_is_told_and_recorded() -> None:
    """The detail and the record count the faults of each shape, and the bound counts them all."""
    summary, _ = strike(Whole())
    detail = summary.detail()
    assert "5 within a batch of a bulk load, 5 during COMPACT, " in detail
    assert "15 second faults during the recovery" in detail
    assert "no loss in 20 faults: with 95 % confidence fewer than 14 % of such faults lose anything" in detail
    record = summary.record("power_loss", Outcome.PASS, detail)
    assert record.faults_by_load == {"burst": 5, "stream": 5, "bulk": 5, "compaction": 5}
    assert (record.rounds, record.second_faults, record.faults_with_loss, record.worst_loss) == (20, 15, 0, None)
    assert record.loss_bound == pytest.approx(0.1391, abs=1e-4)


def test_each_acknowledged_batch_is_at_risk() -> None:
    """Fifty records each, and several batches before each fault."""
    summary, _ = strike(Whole(), ["bulk"])
    assert summary.acknowledged > 5 * 2 * 50
    assert summary.unknown > 0, "the fault struck within a batch"


class Hasty(Whole):
    """Answers a batch before it is on disk; single writes are honest."""

    def batch(self, name: str, records: Mapping[Key, Record]) -> None:
        self.memory[name].update(records)


def test_batches_that_are_answered_too_early_are_caught_by_the_bulk_load_alone() -> None:
    """Only a bulk load shows a batch that is acknowledged before it is durable."""
    summary, _ = strike(Hasty(), ["bulk"])
    assert summary.anomalies[Anomaly.LOST] >= 50
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert strike(Hasty(), ["burst", "stream"])[0].outcome(claimed=True) is Outcome.PASS


class Reckless(Whole):
    """Empties its disk before it rewrites it."""

    def compact(self) -> None:
        with self.lock:
            self.disk = {name: {} for name in self.memory} if self.alive else self.disk
        time.sleep(0.05)
        with self.lock:
            if self.alive:
                self.disk = {name: dict(records) for name, records in self.memory.items()}


def test_a_compaction_that_is_not_crash_safe_is_caught_by_the_compaction_alone() -> None:
    """Only a fault during the compaction shows files that are rewritten in place."""
    summary, _ = strike(Reckless(), ["compaction"])
    assert summary.anomalies[Anomaly.LOST] > 0, summary.detail()
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.record("power_loss", Outcome.FAIL, "").worst_loss is not None
    assert strike(Reckless(), ["burst", "stream", "bulk"])[0].outcome(claimed=True) is Outcome.PASS


def test_what_a_store_has_not_is_said() -> None:
    """Neither batches nor a command: the other shapes are tried all the same."""
    summary, _ = strike(Store(), session=Session)
    assert (summary.bulks, summary.compactions, summary.rounds) == (0, 0, 10)
    assert "not tested under bulk load: no put_many: the adapter does not implement BatchWrite" in summary.detail()
    assert "not tested under compaction load: the adapter does not implement Maintenance" in summary.detail()
    assert summary.record("process_crash", Outcome.PASS, "").faults_by_load == {"burst": 5, "stream": 5}


def test_a_command_that_is_refused_is_said_too() -> None:
    """A refused compaction leaves out its shape, with the store's reason."""
    store = Whole()
    store.refusal = "COMPACT is for the administrator"
    summary, _ = strike(store)
    assert "not tested under compaction load: COMPACT is for the administrator" in summary.detail()
    assert summary.rounds == 15


class Selective(Maintained):
    def compact(self) -> str:
        raise Unsupported("this engine has none")


def test_a_variant_without_a_compaction() -> None:
    """An unsupported compaction leaves out its shape, with the adapter's reason."""
    assert strike(Whole(), session=Selective)[0].without == {"compaction": "this engine has none"}


def test_a_fault_without_anything_at_risk_is_no_evidence() -> None:
    """The bound counts the others alone."""
    summary = DurabilitySummary(streams=5, bursts=5, idle=["nothing was acknowledged"] * 10)
    assert summary.bound is None
    summary.idle.pop()
    assert summary.bound == pytest.approx(0.95)


def test_a_broken_store_counts_as_a_loss() -> None:
    """A store that does not start again is a fault with loss, of the gravest shape."""

    class Stillborn(Whole):
        def begin(self) -> None:
            super().begin()
            self.alive = self.generation < 3

    summary, _ = strike(Stillborn())
    assert summary.broken
    assert summary.lossy == 1
    record: Any = summary.record("process_crash", Outcome.FAIL, "")
    assert record.worst_loss.shape == "unstartable"


class SlowClock:
    """In place of `time`: every look takes half a second, in which some writes may be acknowledged."""

    def __init__(self, acknowledged: Sequence[int]) -> None:
        self.now = 0.0
        self.recorder = SimpleNamespace(acknowledged=0)
        self._after = list(acknowledged)
        """What is acknowledged in each half second; nothing after that."""

    def monotonic(self) -> float:
        return self.now

    def sleep(self, _seconds: float) -> None:
        self.now += 0.5
        self.recorder.acknowledged += self._after.pop(0) if self._after else 0


@pytest.mark.parametrize(
    ("acknowledged", "waited", "found"),
    [
        ([50, 50], 1.0, 100),
        ([1] * 200, 50.0, 100),
        ([1] * 50, 35.0, 50),
        ([], 10.0, 0),
        ([0] * 19 + [1] + [0] * 100, 20.0, 1),
        ([0, 0, 1] * 100, 60.0, 40),
    ],
    ids=["fast", "slow", "ends in the middle", "silent", "one and no more", "too slow"],
)
def test_a_stream_waits_for_writes_at_risk_as_long_as_there_is_progress(
    monkeypatch: pytest.MonkeyPatch, acknowledged: Sequence[int], waited: float, found: int
) -> None:
    """A hundred acknowledged writes; not longer than ten seconds for the next one, nor than a minute for all."""
    clock = SlowClock(acknowledged)
    monkeypatch.setattr(load_shapes, "time", clock)
    shapes: Any = SimpleNamespace(_recorder=clock.recorder)
    load: Any = SimpleNamespace(alive=True)
    load_shapes.LoadShapes._wait_for_load(shapes, load, 100)
    assert (clock.now, clock.recorder.acknowledged) == (waited, found)
