"""Contended keys across faults, against a store in this process: an honest one passes, and each way to be wrong is told from the others."""

from __future__ import annotations

import time

import pytest

from storeproof import native_support
from storeproof.contract import Key, Layout, Record
from storeproof.experiments.contended_keys import COUNTER, REGISTER, SHARE
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.workloads.contended_server import ContendedServer
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.faults import find
from storeproof.spec.scale import DurabilityScale
from tests.experiments import judged_again
from tests.experiments.durability.memory import Handle, Records, Session, Store, subject
from tests.experiments.durability.servers.struck_server import Forgetful
from tests.shipped import SHIPPED

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")

MODELS = SHIPPED.models


class Opened(Session):
    """Sessions whose writes may be seen before they last."""

    def collection(self, layout: Layout) -> Records:
        return Visible(self, layout) if isinstance(self.store, EarlySight) else Records(self, layout)


class EarlySight(Store):
    """Shows a write to others at once, and has it on disk a moment later, before it acknowledges it: as several good stores do."""


class Visible(Records):
    """The two halves of a write."""

    def put(self, key: Key, record: Record) -> None:
        with self._store.lock:
            self._open()[key] = record
        time.sleep(0.005)
        with self._store.lock:
            self._open()
            self._store.flush(self._name, key)


class Stale(Store):
    """Starts on what it had when it started before."""

    def __init__(self) -> None:
        super().__init__()
        self.older: dict[str, dict[Key, Record]] = {}

    def recover(self) -> None:
        self.memory = {name: dict(self.older.get(name, {})) for name in self.disk}
        self.older, self.disk = self.disk, {name: dict(records) for name, records in self.memory.items()}


def strike(store: Store, fault: str = "process_kill", rounds: int = 5) -> LinearizabilitySummary:
    """All rounds."""
    summary = LinearizabilitySummary(case="durability.linearizable/process_crash")
    where = subject(Handle(store), Opened)
    layouts = {key_type: Layout(f"c_{key_type.name}", MODELS[key_type.model]) for key_type in (REGISTER, COUNTER)}
    scale = DurabilityScale(rounds=rounds, clients=8, load_seconds=(0.02, 0.06))
    strikes = [lambda: ServerStrike(where, find(fault))] * rounds
    judged_again.run(StrikeRounds(where, strikes, ContendedServer(where, layouts, scale, summary)))
    return summary


@pytest.mark.parametrize("fault", ["process_kill", "power_cut"])
def test_an_honest_store_gives_answers_that_one_order_explains(fault: str) -> None:
    """Five rounds, two keys of each kind in each; a store that answers after the cut of its disk is not held to that."""
    summary = strike(Store(), fault)
    assert (summary.wrong, summary.undone_reads, summary.undecided) == ([], [], [])
    assert summary.keys == 20
    assert summary.operations > 1000


def test_no_key_gets_more_operations_than_can_be_judged() -> None:
    """A store in memory is faster than any: the clients' shares hold it back."""
    summary = strike(Store())
    assert summary.operations + summary.unknown <= summary.keys * (8 * SHARE + 40)


@pytest.mark.parametrize("store", [Forgetful(), Stale()], ids=["forgetful", "stale"])
def test_a_store_that_goes_back_is_wrong_whatever_was_read_before(store: Store) -> None:
    """What was acknowledged is not there: whatever was read before."""
    summary = strike(store)
    assert summary.wrong
    assert "no order explains" in summary.wrong[0]
    (record,) = summary.shown
    assert record.case == "durability.linearizable/process_crash"
    assert sum(each.contradicts for each in record.accesses) == 1


def test_a_read_of_what_the_fault_undid_is_told_from_a_loss() -> None:
    """The write was never acknowledged: nothing acknowledged is lost, and yet a client has read a value that the fault undid."""
    summary = strike(EarlySight(), rounds=20)
    assert summary.wrong == []
    assert summary.undone_reads
    (record,) = summary.shown
    culprit = next(each for each in record.accesses if each.contradicts)
    assert record.fault_us is not None
    assert culprit.invoked_us > record.fault_us
    assert any(each.action == "get" and each.completed_us is not None and each.completed_us <= record.fault_us for each in record.accesses)


def test_a_message_names_a_few_keys_and_counts_the_others() -> None:
    """Four; of more, one picture and a number say enough."""
    assert LinearizabilitySummary.list_some(["a", "b"]) == ["a", "b"]
    assert LinearizabilitySummary.list_some(list("abcdef")) == ["a", "b", "c", "d", "and 2 more keys"]
