"""A node whose data lies where no fault takes it is not lost: nothing is shown of the cluster. A partition takes no data."""

from __future__ import annotations

import pytest

from storeproof.errors import FaultMissed
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.outcome import Outcome
from tests.experiments.durability.memory_cluster import Kill, MemoryCluster
from tests.experiments.durability.struck_cluster import ROUNDS, Lose, short, struck
from tests.experiments.durability.test_cluster_sessions import Fenced
from tests.experiments.durability.test_cluster_sessions import struck as sessions_through

__all__ = ["short"]


class Elsewhere(MemoryCluster):
    """Its nodes write to a file outside their directories."""

    elsewhere = ("/elsewhere/data.db",)


def test_a_lost_node_that_keeps_its_data_elsewhere_was_not_lost() -> None:
    """Claimed or not it is an error, with the reason, also from the evidence; a loss of data stays one."""
    summary = struck(Elsewhere(synchronous=True), Lose())
    assert summary.outcome(claimed=True) is summary.outcome(claimed=False) is Outcome.ERROR
    assert "it writes to /elsewhere/data.db, outside its data directory, where no fault strikes" in summary.detail()
    assert (summary.rounds, summary.bound, summary.cluster_rounds) == (0, None, [])
    assert struck(Elsewhere(synchronous=False), Lose()).outcome(claimed=True) is Outcome.FAIL


def test_a_partition_needs_no_files() -> None:
    """Nothing is asked of where they are."""
    assert struck(Elsewhere(synchronous=True), IsolatePrimary()).rounds == ROUNDS


def test_the_same_under_any_workload() -> None:
    """Here the sessions of clients."""
    with pytest.raises(FaultMissed, match=r"it writes to /elsewhere/data\.db"):
        sessions_through(Elsewhere(synchronous=True), Kill(), Fenced)
    assert sessions_through(Elsewhere(synchronous=True), IsolatePrimary(), Fenced).wrong == []
