"""An outage is put on, watched and judged: on stores in this process that keep what they say or do not, and on a real one."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from storeproof.check import Anomaly, Finding
from storeproof.contract import Breach, Key, Layout, Record, Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.performance import outage
from storeproof.experiments.performance.outage import KINDS, Observed, Outage
from storeproof.experiments.performance.outage_summary import OutageSummary
from storeproof.launch.handle import Handle as AnyHandle
from storeproof.outcome import Outcome
from storeproof.spec.scale import OutageFault, OutageScale
from storeproof.stats import unavailability as figures
from storeproof.store_under_test import Options, StoreUnderTest
from tests.end_to_end.running import wait_for
from tests.experiments.durability.memory import Handle, Session, Store, subject
from tests.shipped import SHIPPED

SPEC = SHIPPED
LAYOUT = Layout("c", SPEC.models["single_key"])
SHORT = OutageScale(faults=("crash",), rate=400, before_seconds=0.2, after_seconds=0.6)
CALM = OutageScale(faults=("crash",), rate=100, before_seconds=0.4, after_seconds=3)
"""Seen to its end on a busy machine too, where a quarter of a second is late for eight threads that share an interpreter."""


class Pausable(Handle):
    """Halts by holding the store's lock, and runs on another port after each start, as a container does."""

    def pause(self) -> None:
        self.deeds.append("pause")
        self.store.lock.acquire()

    def resume(self) -> None:
        if self.store.lock.locked():
            self.deeds.append("resume")
            self.store.lock.release()


class Forgetful(Store):
    """Acknowledges, and writes nothing."""

    def flush(self, name: str, key: Key) -> None:
        pass


class Inventive(Store):
    """Has another's record after a start."""

    def recover(self) -> None:
        super().recover()
        for records in self.memory.values():
            for key in list(records)[:1]:
                records[key] = b"9:9|" + bytes(96)


class Bare(Forgetful):
    """Keeps its schema in memory too."""

    def recover(self) -> None:
        self.memory = {}


class Stillborn(Store):
    """Does not start again."""

    def begin(self) -> None:
        self.alive = False


class Shy(Store):
    """Takes no requests after a start."""

    shy = False

    def begin(self) -> None:
        super().begin()
        self.shy = True

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        if self.shy:
            raise Refused("not now")
        super().stored(name, key, record)


def watch(store: Store, fault: OutageFault, *, claimed: bool = True, scale: OutageScale = SHORT) -> OutageSummary:
    """One outage of a store in this process."""
    handle = Pausable(store)
    store.create(LAYOUT.name)
    return OutageSummary(fault=fault, observed=run(handle, fault, lambda _: Session(store), scale), claimed=claimed, rate=scale.rate)


def run(handle: Handle, fault: OutageFault, connect: Callable[[Any], Any], scale: OutageScale = SHORT) -> Observed:
    """An outage, whole."""
    experiment = Outage(subject(handle), KINDS[fault], LAYOUT, scale, connect=connect, seed="7")
    experiment.run()
    return experiment.observed


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short pause, hardly a warm-up, and steady is who is so for 0.3 s."""
    monkeypatch.setattr(figures, "_STAYS", figures.SECOND * 3 // 10)
    monkeypatch.setattr(outage, "PAUSE_SECONDS", 0.3)
    monkeypatch.setattr(outage, "_WARM_UP", 0.05)


@pytest.mark.parametrize("fault", KINDS)
def test_an_honest_store_comes_back_with_all_that_it_acknowledged(fault: OutageFault) -> None:
    """Each fault ends, nothing is lost, and the record has its times and errors."""
    found = watch(Store(), fault, scale=CALM)
    assert found.outcome(claimed=found.claimed) is Outcome.PASS, found.detail()
    record = found.record(found.outcome(claimed=found.claimed), found.detail())
    assert (record.lost, record.claimed) == (0, True)
    assert record.acknowledged > 60
    assert [each.name for each in record.events] == ["fault", "goes on" if fault == "pause" else "start", "back"]
    assert record.events[0].second == 0
    if fault == "pause":
        assert 0.2 < record.unavailable_seconds < 0.6, "also on a busy machine"
        assert record.errors == 0
        assert record.during.p50_us == pytest.approx(150_000, rel=0.7)
    else:
        assert 1 <= record.errors <= outage.CLIENTS, "the first request of each client that was connected"


def test_the_load_is_what_was_ordered() -> None:
    """The open loop sends at the rate of the scale."""
    found = watch(Store(), "pause")
    seconds = SHORT.before_seconds + 0.3 + SHORT.after_seconds
    assert len(found.observed.watched.requests) == pytest.approx(SHORT.rate * seconds, rel=0.2)


@pytest.mark.parametrize("store", [Forgetful, Bare])
def test_a_loss_is_a_failure_where_none_was_promised_and_else_a_number(store: type[Store]) -> None:
    """Lost writes fail a store that claims the guarantee, and are only counted for others."""
    found = watch(store(), "crash")
    assert found.outcome(claimed=found.claimed) is Outcome.FAIL, found.detail()
    assert len(found.harmed) >= found.observed.at_risk * 0.8, "all of it"
    unclaimed = replace(found, claimed=False)
    assert unclaimed.outcome(claimed=unclaimed.claimed) is Outcome.PASS, unclaimed.detail()
    assert unclaimed.record(Outcome.PASS, "").lost == len(found.harmed)
    assert "acknowledged writes, and no promise broken" in unclaimed.detail()
    assert "no promise broken" not in found.detail()


def test_what_nobody_wrote_is_excused_by_nothing() -> None:
    """Data that no client wrote fails without any claim."""
    assert watch(Inventive(), "restart", claimed=False).outcome(claimed=False) is Outcome.FAIL


def test_a_store_that_does_not_start_again_has_died_and_its_row_says_so() -> None:
    """A store that stays down fails, and its record has no losses and no recovery time."""
    found = watch(Stillborn(), "crash", claimed=False)
    assert found.outcome(claimed=found.claimed) is Outcome.FAIL
    assert isinstance(found.observed.failure, StoreDied)
    record = found.record(found.outcome(claimed=found.claimed), found.detail())
    assert (record.lost, record.degraded_seconds) == (None, None)
    assert record.acknowledged > 10
    assert [each.name for each in record.events] == ["fault", "start"]
    assert record.bins[-1].ok == 0
    assert record.unavailable_seconds >= SHORT.after_seconds
    assert "it did not come back: " in record.detail
    assert "acknowledged writes not read back" in record.detail


@pytest.mark.parametrize(("claimed", "outcome"), [(True, Outcome.FAIL), (False, Outcome.UNSUPPORTED)])
def test_a_store_that_refuses_its_clients_fails_where_it_promised_something(claimed: bool, outcome: Outcome) -> None:
    """Refusals after the fault break a promise only where there was one."""

    class Spoilt(Bare):
        def create(self, name: str) -> None:
            if self.generation:
                raise Refused("the table wants to be repaired")
            super().create(name)

    found = watch(Spoilt(), "crash", claimed=claimed)
    assert found.outcome(claimed=found.claimed) is outcome, found.detail()
    assert found.detail().startswith("after the fault the store refuses what it is asked: the table wants to be repaired")


def test_a_store_that_only_refuses_afterwards_is_not_seen_to_be_back() -> None:
    """It answers what it is asked to read: half of the requests."""
    found = watch(Shy(), "crash")
    assert found.outcome(claimed=found.claimed) is Outcome.INCONCLUSIVE, found.detail()
    assert found.figures.degraded_seconds is None
    assert found.figures.errors > 50


def test_a_promise_that_nothing_was_at_risk_for_was_not_tried() -> None:
    """An outage before which nothing was acknowledged is inconclusive."""
    found = watch(Store(), "crash")
    idle = Observed(found.observed.watched, found.observed.events, 0, 0, 0, [])
    assert replace(found, observed=idle).outcome(claimed=True) is Outcome.INCONCLUSIVE


def test_a_figure_that_fails_a_gate_says_so() -> None:
    """A late load generator fails a gate, and the detail names it."""
    found = watch(Store(), "crash")
    late = [replace(each, sent=each.due + 10**7, ended=each.due + 2 * 10**7) for each in found.observed.watched.requests]
    watched = replace(found.observed.watched, requests=late)
    told = replace(found, observed=Observed(watched, found.observed.events, 1, 0, 1, [Finding("c", "k", Anomaly.OK, "")]))
    assert "gate schedule_lag_ms fails" in told.detail()
    assert not told.record(told.outcome(claimed=True), "").gates["schedule_lag_ms"].ok


def test_a_halted_store_goes_on_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of it."""
    handle = Pausable(Store())

    def interrupt(seconds: float) -> None:
        if "pause" in handle.deeds:
            raise KeyboardInterrupt

    monkeypatch.setattr(outage, "time", SimpleNamespace(sleep=interrupt))
    with pytest.raises(KeyboardInterrupt):
        run(handle, "pause", lambda _: Session(handle.store))
    assert handle.deeds == ["pause", "resume"]


def test_an_adapter_that_breaks_the_contract_is_found_in_a_clients_thread_too() -> None:
    """A breach in a client's thread is raised by the experiment."""

    class Leaking(Store):
        def stored(self, name: str, key: Key, record: Record | None) -> None:
            raise KeyError(key)

    with pytest.raises(Breach, match="put raised KeyError"):
        watch(Leaking(), "pause")


def test_clients_end_when_they_are_told_to_also_without_a_store() -> None:
    """All of them are trying to connect by then."""
    store = Store()
    tried = threading.Event()
    attempts: list[None] = []

    class Gone(Pausable):
        def start_nowait(self) -> None:
            assert tried.wait(10)
            raise StoreDied("gone")

    def connect(_: object) -> Session:
        if not store.alive:
            attempts.append(None)
            if len(attempts) > 3 * outage.CLIENTS:
                tried.set()
        return Session(store)

    before = set(threading.enumerate())
    seen = run(Gone(store), "crash", connect)
    assert isinstance(seen.failure, StoreDied)
    assert set(threading.enumerate()) <= before


@pytest.fixture
def sqlite() -> Iterator[Callable[[], tuple[StoreUnderTest, AnyHandle]]]:
    """A trial of the embedded store, and a server of it."""
    (target,) = SPEC.targets(["sqlite"])
    sut = StoreUnderTest(SPEC, target, Options(SPEC.scales["smoke"], 1, launch="process"), lambda _: None)
    handles: list[AnyHandle] = []

    def launch() -> tuple[StoreUnderTest, AnyHandle]:
        handles.append(sut.launch("a test"))
        return sut, handles[0]

    yield launch
    for handle in handles:
        handle.close()


def subject_of(sut: StoreUnderTest, handle: AnyHandle) -> Subject:
    """A real store as the subject of an experiment."""
    return Subject(handle, sut.connect, random.Random(7))


def test_a_server_that_is_halted_for_a_second_shows_a_second(sqlite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stall test: a client that counted from when it sent would have seen one slow request of hundreds, and a p99 of nothing."""
    monkeypatch.setattr(outage, "PAUSE_SECONDS", 1.0)
    sut, handle = sqlite()
    outage_ = Outage(subject_of(sut, handle), KINDS["pause"], sut.layout("single_key"), SHORT, connect=sut.connect, seed="7")
    outage_.run()
    summary = OutageSummary(fault="pause", observed=outage_.observed, claimed=True, rate=SHORT.rate)
    record = summary.record(summary.outcome(claimed=True), summary.detail())
    assert record.during.p99_us is not None
    assert record.during.p99_us >= 500_000
    assert record.during.p50_us is not None
    assert record.during.p50_us >= 300_000
    assert record.during.requests > SHORT.rate * 0.7
    assert 0.7 < record.unavailable_seconds < 2
    assert (record.lost, record.errors) == (0, 0), record.detail
    assert all(psutil.Process(pid).status() != psutil.STATUS_STOPPED for pid in handle.pids)
    assert handle.alive()


def test_a_server_is_not_left_halted(sqlite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted by a signal in the middle of the pause."""
    sut, handle = sqlite()
    process = psutil.Process(handle.pids[0])
    slept: list[float] = []

    def interrupt(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:  # the warm-up, the time before, the pause
            wait_for(lambda: process.status() == psutil.STATUS_STOPPED)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(outage, "time", SimpleNamespace(sleep=interrupt))
    with pytest.raises(KeyboardInterrupt):
        Outage(subject_of(sut, handle), KINDS["pause"], sut.layout("single_key"), SHORT, connect=sut.connect, seed="7").run()
    wait_for(lambda: process.status() != psutil.STATUS_STOPPED)
    with pytest.raises(Unknown):
        handle.close()
        sut.connect(handle).version()
    assert not process.is_running()
