"""Transfers across faults of one server in this process: an honest one passes, and each way to be wrong is told from the others."""

from __future__ import annotations

import time

import pytest

from storeproof.contract import Layout
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.durability.workloads.transfers import Transfers
from storeproof.outcome import Outcome
from tests.experiments.durability.memory import Store
from tests.experiments.durability.servers.struck_server import ROUNDS, SCALE, Atomic, Checkpointed, Forgetful, Snapshots, Write, strike
from tests.shipped import SHIPPED

LAYOUTS = {name: Layout(f"c_{name}", SHIPPED.models[name]) for name in (ENTRIES, ACCOUNTS)}


class Unsteady(Atomic):
    """Snapshots see the halves of what is being written."""

    def begin(self, isolation: object) -> None:
        self.writes, self.snapshot = [], None

    def apply(self, writes: list[Write]) -> None:
        for write in writes:
            super().apply([write])
            self.store.lock.release()
            time.sleep(0.002)
            self.store.lock.acquire()


def struck(store: Store, fault: str = "process_kill", session: type[Atomic] = Atomic) -> TransferSummary:
    """All rounds."""
    summary = TransferSummary(halves_are_losses=True)
    strike(store, fault, session, lambda where: Transfers(where, LAYOUTS, SCALE, summary))
    return summary


@pytest.mark.parametrize("fault", ["process_kill", "power_cut"])
def test_atomic_transactions_that_are_on_disk_pass(fault: str) -> None:
    """What a store acknowledges after it has lost its disk is unknown: it is not held to that."""
    summary = struck(Store(), fault)
    assert (summary.losses, summary.halves, summary.lies) == ([], [], [])
    assert summary.strikes == {fault: ROUNDS}
    assert min(summary.acknowledged, summary.snapshots) > 5
    assert summary.cluster_rounds == []
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.PASS, Outcome.UNDECLARED)


def test_what_was_not_on_disk_is_lost_whole() -> None:
    """A failure where the guarantee is claimed. That nothing is half is told, too."""
    summary = struck(Snapshots(), session=Checkpointed)
    assert summary.lost > 0
    assert (summary.halves, summary.lies) == ([], [])
    assert "by the server, -0." in summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_a_half_is_a_loss_where_nothing_is_claimed() -> None:
    """The fault struck the only copy."""
    summary = struck(Forgetful())
    assert summary.halves
    assert "halves of transfers, in rounds of process_kill" in summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_a_snapshot_that_shows_a_half_is_a_failure_without_a_claim() -> None:
    """No fault has to do with that."""
    summary = struck(Store(), session=Unsteady)
    assert any("and not to 0" in each for each in summary.lies)
    assert summary.outcome(claimed=False) is Outcome.FAIL


def test_a_power_cut_that_a_store_answers_through_is_told_from_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Held to what it acknowledged without its disk, the honest store would fail."""
    monkeypatch.setattr("storeproof.experiments.durability.struck_round.StruckRound.lost_disk", ())
    assert struck(Store(), "power_cut").lost > 0
