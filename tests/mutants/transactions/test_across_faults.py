"""Transactions across faults of one server in this process: an honest one passes, and each way to be wrong is told from the others."""

from __future__ import annotations

import time

import pytest

from storeproof.blame import CaseEnding
from storeproof.contract import Key, Layout, Record
from storeproof.evidence import RoundEvidence, TransactionsEvidence
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.durability.workloads.isolation_rounds import MIX, IsolationRounds
from storeproof.experiments.durability.workloads.struck_transactions import StruckTransactions
from storeproof.history import Access, Transaction
from storeproof.outcome import Outcome
from storeproof.spec.interleaving import Isolation
from tests.experiments.durability.isolated import Isolated, Seen, Told, forget_one
from tests.experiments.durability.memory import Store
from tests.experiments.durability.servers.struck_server import ROUNDS, Snapshots, strike
from tests.shipped import SHIPPED

LAYOUT = Layout("c_values", SHIPPED.models["single_key"])


class ForgetsTheFirst(Store):
    """A kill takes the first of two commits and leaves the second, which has read what the first wrote."""

    def end(self, *, clean: bool) -> None:
        super().end(clean=clean)
        forget_one(self.disk)


class ForgetsTheLast(Isolated):
    """The disk has the state of a moment ago: what is left is one that there was."""

    def install(self, store: Store) -> None:
        assert isinstance(store, Snapshots)
        store.keep()
        super().install(store)


class LosesUpdates(Isolated):
    """Both of two that replace the same version commit."""

    def outdated(self) -> bool:
        return False


class Leaky(Store):
    """A kill makes durable what transactions were about to write."""

    def __init__(self) -> None:
        super().__init__()
        self.writing: list[Slow] = []

    def end(self, *, clean: bool) -> None:
        super().end(clean=clean)
        for name, key, record in [(*place, record) for each in self.writing for place, record in [*each.writes.items()]]:
            self.disk[name][key] = record


class Slow(Isolated):
    """Takes longer to write than to commit."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        assert isinstance(store, Leaky)
        store.writing.append(self)

    def collection(self, layout: Layout) -> Seen:
        return SlowRecords(self, layout)


class SlowRecords(Seen):
    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        time.sleep(0.003)


def struck(store: Store, session: type[Isolated] = Isolated, fault: str = "process_kill") -> IsolationRounds:
    """All rounds."""
    level: Isolation = "serializable"
    summary = IsolationRounds(level=level, guarantees="serializable")
    strike(store, fault, session, lambda where: StruckTransactions(where, LAYOUT, SHIPPED.mixes[MIX], 8, summary))
    return summary


def kinds(summary: IsolationRounds) -> set[str]:
    """Of what is wrong across the faults."""
    return {kind for each in summary.across for kind in each.kinds}


@pytest.mark.parametrize("fault", ["process_kill", "power_cut"])
def test_serializable_transactions_that_are_on_disk_pass(fault: str) -> None:
    """What a store answers after it has lost its disk is unknown: it is not held to that."""
    summary = struck(Store(), fault=fault)
    assert (summary.findings, summary.lost) == ([], 0), summary.detail()
    assert summary.strikes == {fault: ROUNDS}
    assert summary.ending is CaseEnding.RIGHT, summary.detail()
    assert "serializable is not refuted by" in summary.sentence()


def test_a_commit_that_a_kill_takes_while_it_leaves_later_ones_is_caught() -> None:
    """By what is read in the end, or by another one that was written in its place. A failure where the guarantee is claimed."""
    summary = struck(ForgetsTheFirst(), Told)
    assert kinds(summary) & {"lost", "lost-update"}, summary.detail()
    assert summary.before == []
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_a_state_that_there_was_is_a_loss_alone() -> None:
    """Nothing that the level forbids, before transactions go on from there."""
    summary = struck(Snapshots(), ForgetsTheLast)
    assert summary.lost > 0
    assert kinds(summary) <= {"lost", "lost-update"}, summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_what_was_never_committed_and_is_there_after_a_kill_is_caught() -> None:
    """A connection that is lost before the commit leaves nothing of its transaction."""
    summary = struck(Leaky(), Slow)
    assert "G1a" in kinds(summary), summary.detail()
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_what_is_wrong_before_the_fault_is_a_failure_without_a_claim() -> None:
    """No fault has to do with that."""
    summary = struck(Store(), LosesUpdates)
    assert any("lost update" in str(each) for each in summary.before), summary.detail()
    assert summary.outcome(claimed=False) is Outcome.FAIL


def judged(*sent: Transaction, cuts_off: bool = False) -> IsolationRounds:
    """A round that was struck at 10; its clients had ended at 20."""
    kept = TransactionsEvidence("serializable", MIX, [*sent])
    summary = IsolationRounds(level="serializable", guarantees="serializable")
    summary.judge(StruckRound(RoundEvidence("stream", 1, struck=10, load_ended=20, transactions=kept), "a_fault", cuts_off))
    return summary


def test_what_is_left_has_read_what_is_gone() -> None:
    """So it is no state that there was: a lost commit, and read skew beside it, though nothing was written after the fault."""
    first = Transaction(0, 2, 3, "ok", (Access("read", "k1", None), Access("write", "k1", "0:1")))
    second = Transaction(1, 5, 6, "ok", (Access("read", "k1", "0:1"), Access("read", "k2", None), Access("write", "k2", "1:1")))
    summary = judged(first, second, Transaction(2, 30, 40, "ok", (Access("read", "k1", None), Access("read", "k2", "1:1"))))
    assert kinds(summary) == {"lost", "G-single"}
    assert summary.before == []
    assert summary.sentence().startswith("not serializable: read skew (G-single); 1 acknowledged commits were lost; in 3 transactions")


@pytest.mark.parametrize(("cuts_off", "found"), [(True, []), (False, ["lost", "lost-update"])])
def test_what_is_answered_after_the_disk_is_gone_is_unknown(cuts_off: bool, found: list[str]) -> None:
    """It may be missing afterwards, and others may write in its place."""
    sent = [
        Transaction(0, 15, 18, "ok", (Access("read", "k1", None), Access("write", "k1", "0:1"))),
        Transaction(1, 30, 40, "ok", (Access("read", "k1", None), Access("write", "k1", "1:1"))),
        Transaction(2, 50, 60, "ok", (Access("read", "k1", "1:1"),)),
    ]
    summary = judged(*sent, cuts_off=cuts_off)
    assert [kind for each in summary.across for kind in each.kinds] == found
    assert summary.before == []
