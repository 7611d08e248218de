"""A store that keeps everything where no fault strikes: nothing is shown of it, and a loss stays a loss."""

from __future__ import annotations

import pytest

from storeproof.contract import Key, Layout, Record, Refused
from storeproof.errors import FaultMissed
from storeproof.experiments.contended_keys import KEY_TYPES
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.workloads.contended_server import ContendedServer
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.faults import find
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory import Handle, Store, Written, subject
from tests.experiments.durability.test_replay import replayed, struck, written_and_read
from tests.experiments.durability.test_rounds import MODELS, Volatile


class Elsewhere(Handle):
    """Has a file open that no fault strikes."""

    elsewhere = ("/elsewhere/data.db",)


class Empty(Handle):
    """Nothing reaches its data directory."""

    def data_written(self) -> Written:
        return Written(Store())


class Slow(Store):
    """Takes its first write after the fault."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        if not self.generation:
            raise Refused("not yet")
        super().stored(name, key, record)


@pytest.mark.parametrize(
    ("handle", "says"),
    [
        (Elsewhere, "it writes to /elsewhere/data.db, outside its data directory"),
        (Empty, "the data directory holds nothing of what was written"),
    ],
)
@pytest.mark.parametrize("fault", ["process_kill", "clean_restart", "power_cut"])
def test_a_fault_that_missed_the_files_shows_nothing(handle: type[Handle], says: str, fault: str) -> None:
    """Claimed or not it is an error, with the reason; no round counts in which it was seen; and the evidence shows the same."""
    summary, kept = struck(Store, fault, handle)
    for each in (summary, replayed(written_and_read(kept))):
        assert each.outcome(claimed=True) is each.outcome(claimed=False) is Outcome.ERROR
        assert says in each.detail()
        assert each.streams == 0
        assert each.bound is None


@pytest.mark.slow
def test_a_store_that_loses_what_it_keeps_nowhere_is_told_so() -> None:
    """It writes nothing, and loses all: that is no error of its file, and all rounds are struck."""
    summary, _ = struck(Volatile, "process_kill", Empty)
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert (summary.rounds, summary.missed) == (10, "")


def test_an_order_of_answers_shows_nothing_across_a_fault_that_missed() -> None:
    """The answers are right, and the fault was none."""
    with pytest.raises(FaultMissed, match=r"it writes to /elsewhere/data\.db"):
        ordered(Elsewhere(Store()))


def test_what_is_acknowledged_after_a_fault_was_not_missed_by_it() -> None:
    """A store that is too slow to acknowledge a write before the fault has nothing in its files by then, and shows nothing."""
    found = ordered(Empty(Slow()))
    assert (found.wrong, found.outcome(claimed=True)) == ([], Outcome.INCONCLUSIVE)
    assert "nothing was acknowledged before 1 of the faults" in found.detail()


def ordered(handle: Handle) -> LinearizabilitySummary:
    """One fault under clients of the same counters."""
    registers = {each: Layout(f"c_{each.model}", MODELS[each.model]) for each in KEY_TYPES if each.model == "counter"}
    assert registers
    scale = DurabilityScale(rounds=5, clients=2, load_seconds=(0.01, 0.02))
    summary = LinearizabilitySummary(case="durability.linearizable/process_crash")
    store = subject(handle)
    StrikeRounds(store, [lambda: ServerStrike(store, find("process_kill"))], ContendedServer(store, registers, scale, summary)).run()
    return summary
