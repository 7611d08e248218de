"""Transactions through faults of a cluster in this process: one that waits for a replica passes, and what lies is caught."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from storeproof.contract import Layout
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.workloads.isolation_rounds import MIX, IsolationRounds
from storeproof.experiments.durability.workloads.struck_transactions import StruckTransactions
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.outcome import Outcome
from tests.experiments import judged_again
from tests.experiments.durability.isolated import Isolated, Told, forget_one
from tests.experiments.durability.memory_cluster import Kill, MemoryCluster, subject
from tests.shipped import SHIPPED

LAYOUT = Layout("c_values", SHIPPED.models["single_key"])


class ForgetsTheFirst(MemoryCluster):
    """Who takes over lacks a commit, and has a later one that has read what it wrote."""

    def elect(self, candidates: Sequence[str]) -> str:
        found = super().elect(candidates)
        forget_one(self.stores[found].memory)
        return found


@pytest.fixture(autouse=True)
def _briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of a partition for a moment."""
    for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
        monkeypatch.setattr(cluster_strike, name, 0.2)


def struck(fault: ClusterFault, cluster: MemoryCluster, session: type[Isolated] = Isolated) -> IsolationRounds:
    """One round."""
    where = subject(cluster, session=session)
    summary = IsolationRounds(level="serializable", guarantees="serializable")

    def strike() -> ClusterStrike:
        return ClusterStrike(where, fault, lambda at: session(cluster.stores[at.host]))

    workload = StruckTransactions(where, LAYOUT, SHIPPED.mixes[MIX], 16, summary)
    judged_again.run(StrikeRounds(where, [strike], workload), "durability.isolation/partition")
    return summary


@pytest.mark.parametrize("fault", [Kill(), IsolatePrimary()], ids=lambda fault: fault.name)
def test_commits_that_a_replica_has_pass(fault: ClusterFault) -> None:
    """Also of clients that stay at the replaced primary, and read there what is old by now."""
    summary = struck(fault, MemoryCluster(synchronous=True))
    assert (summary.findings, summary.lost) == ([], 0), summary.detail()


def test_commits_that_no_replica_has_are_lost() -> None:
    """Those of clients that stayed at the replaced primary; without a promise that says little."""
    summary = struck(IsolatePrimary(), MemoryCluster(synchronous=False))
    assert summary.across, summary.detail()
    assert summary.before == []
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_a_commit_that_no_replica_has_while_they_have_later_ones_is_caught() -> None:
    """By what is read in the end, or by another one that was written in its place."""
    summary = struck(Kill(), ForgetsTheFirst(synchronous=True), Told)
    kinds = {kind for each in summary.across for kind in each.kinds}
    assert kinds & {"lost", "lost-update"}, summary.detail()
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_a_level_is_judged_by_what_holds_across_nodes_where_a_node_is_lost() -> None:
    """Galera's serializable is kept by each node by itself; a fault that leaves all clients at one node is judged by that."""
    (galera,) = SHIPPED.targets(["mariadb:galera"])
    (postgresql,) = SHIPPED.targets(["postgresql:standbys-on"])
    faults = ("node_loss", "partition", "process_crash", "power_loss")
    found = [[IsolationRounds.of(each, fault).guarantees for fault in faults] for each in (galera, postgresql)]
    assert found == [["read_committed"] * 2 + ["serializable"] * 2, ["serializable"] * 4]
