"""Rounds that the machine spoils: done again on another store, counted, and neither a loss nor a pass."""

from __future__ import annotations

import io

import pytest

from storeproof.contract import Layout, Unknown
from storeproof.errors import Halted, MachineFailed, StoreDied
from storeproof.evidence import evidence_file, read_evidence
from storeproof.experiments import run_guarantees
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.fault_experiment import repeat_spoiled
from storeproof.outcome import Outcome
from storeproof.store_under_test import Options, StoreUnderTest
from tests.experiments.durability.memory import Handle, Store, subject
from tests.experiments.durability.servers.struck_records import struck
from tests.experiments.durability.test_rounds import SCALE
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
LAYOUTS = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "counter")}


class Killed(Handle):
    """Every store's third start meets a killer from outside."""

    def start_nowait(self) -> None:
        super().start_nowait()
        if self.deeds.count("start") == 2:
            self.store.end(clean=False)

    def wait_ready(self) -> None:
        if not self.store.alive:
            raise MachineFailed("killed from outside by SIGKILL, which storeproof did not send")

    def check_alive(self) -> None:
        if not self.alive():
            raise MachineFailed("killed from outside by SIGKILL, which storeproof did not send")


def strike(handles: list[Handle], most: int = 3, store: type[Store] = Store, handle: type[Handle] = Killed) -> DurabilitySummary:
    """All rounds, on as many stores as it takes."""
    summary = DurabilitySummary()

    def go_on() -> None:
        handles.append(handle(store()))
        struck(subject(handles[-1], seed=len(handles)), "process_kill", LAYOUTS, SCALE, summary)

    summary.given_up = not repeat_spoiled(go_on, summary.spoiled, most)
    return summary


def test_a_spoiled_round_is_done_again_on_another_store() -> None:
    """A spoiled round is repeated and counted, and is none of the rounds."""
    handles: list[Handle] = []
    summary = strike(handles, most=50)
    whole = strike([], handle=Handle)
    assert summary.outcome(claimed=True) is Outcome.PASS, summary.detail()
    assert (summary.streams, summary.bursts, summary.rounds) == (whole.streams, whole.bursts, whole.rounds), (
        "spoiled rounds are none of them"
    )
    assert len(summary.spoiled) == len(handles) - 1 > 0
    assert summary.lossy == 0
    assert summary.acknowledged > 0
    assert f"{len(summary.spoiled)} rounds were spoiled and repeated: spoiled by the machine: killed from outside" in summary.detail()
    assert summary.record("process_crash", Outcome.PASS, "").spoiled == len(summary.spoiled)


def test_beyond_the_limit_nothing_is_said_of_the_store() -> None:
    """More spoiled rounds than are repeated make the case inconclusive."""
    summary = strike([], most=0)
    assert summary.outcome(claimed=True) is Outcome.INCONCLUSIVE
    assert "1 rounds were spoiled and given up" in summary.detail()


class KilledWhileItIsRead(Killed):
    """A killer from outside comes after a start; the store's connections are closed before its process is gone."""

    def start_nowait(self) -> None:
        Handle.start_nowait(self)

    def wait_ready(self) -> None:
        super().wait_ready()
        if self.deeds.count("start") == 2:
            self.store.end(clean=False)

    def alive(self) -> bool:
        return True

    def check_alive(self) -> None:
        if not self.store.alive:
            raise MachineFailed("killed from outside by SIGKILL, which storeproof did not send")


def test_a_store_that_is_killed_from_outside_while_it_is_read_is_not_silent() -> None:
    """Its process may be there a moment longer than its connections: the round is spoiled, and the store is not blamed."""
    summary = strike([], most=0, handle=KilledWhileItIsRead)
    assert summary.outcome(claimed=True) is Outcome.INCONCLUSIVE, summary.detail()
    assert "killed from outside by SIGKILL" in summary.detail()


class Forgetful(Store):
    """Loses all that it acknowledged when it is killed."""

    def end(self, *, clean: bool) -> None:
        super().end(clean=clean)
        if not clean:
            self.disk = {name: {} for name in self.disk}


def test_a_loss_before_the_machine_failed_stays_a_loss() -> None:
    """What was found before the machine failed still counts."""
    summary = strike([], most=0, store=Forgetful)
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_a_store_that_ends_by_itself_is_not_tried_again() -> None:
    """The store's own end is raised at once."""
    calls: list[int] = []

    def attempt() -> None:
        calls.append(1)
        raise StoreDied("ended with exit status 1")

    try:
        repeat_spoiled(attempt, [], 3)
    except StoreDied:
        assert calls == [1]
    else:
        raise AssertionError("a store's own end is the store's, and is told")


def test_no_answer_is_tried_again() -> None:
    """A round without an answer is repeated, and its reason is kept."""
    answers = [Unknown("timed out"), Unknown("timed out"), None]
    spoiled: list[str] = []

    def attempt() -> None:
        if (failure := answers.pop(0)) is not None:
            raise failure

    assert repeat_spoiled(attempt, spoiled, 3)
    assert spoiled == ["the store is running but did not answer: timed out"] * 2


def test_every_attempt_is_in_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those on a store that did not start, since the machine was busy: in a claim none may be missing."""
    (target,) = SHIPPED.targets(["sqlite:wal-full"])
    sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None)
    summary = DurabilitySummary()

    def busy(*_: object) -> Handle:
        raise MachineFailed("the machine is busy")

    monkeypatch.setattr(run_guarantees, "launch_for", busy)
    run_guarantees.run_guarantee(sut, "process_crash", summary)
    assert summary.given_up
    kept = list(read_evidence(io.BytesIO(evidence_file("r1", sut.record.evidence)), "r1"))
    assert [each.seed for each in kept] == [f"1 sqlite:wal-full process_crash {number}" for number in range(len(summary.spoiled))]
    assert [(each.rounds, each.operations) for each in kept] == [([], [])] * 6


def test_a_case_that_has_had_its_time_is_not_tried_again() -> None:
    """What it has found by then counts: the summary is told, and no other attempt is made."""
    spoiled: list[str] = []

    def attempt() -> None:
        raise Halted("the case has taken 1 h 0 min; next would have been put")

    assert not repeat_spoiled(attempt, spoiled, 3)
    assert spoiled == ["the case has taken 1 h 0 min; next would have been put"]
