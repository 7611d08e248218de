"""Faults that strike all nodes of a cluster alike: they end by themselves, and the primary may be the same one afterwards."""

from __future__ import annotations

import pytest

from storeproof.errors import StoreDied
from storeproof.experiments.durability.clusters import alike
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.lossy_links import LossyLinks
from storeproof.faults.slow_links import SlowLinks
from storeproof.faults.split_all import SplitAll
from storeproof.outcome import Outcome
from tests.experiments.durability.memory_cluster import MemoryCluster, NodeStore
from tests.experiments.durability.struck_cluster import ROUNDS, short, struck

__all__ = ["short"]


class Split(SplitAll):
    """A shorter one."""

    lasts = 0.3


class Lossy(LossyLinks):
    """A shorter one."""

    lasts = 0.3


class Slow(SlowLinks):
    """A shorter one."""

    lasts = 0.3


FAULTS = [pytest.param(each, id=each.name) for each in (Split(), Lossy(), Slow())]


@pytest.mark.parametrize("synchronous", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_primary_that_stays_loses_nothing(fault: ClusterFault, synchronous: bool) -> None:
    """Nor does it if it acknowledges first: the others get it all later. No failover is expected, so that none is missing."""
    cluster = MemoryCluster(synchronous=synchronous)
    summary = struck(cluster, fault)
    assert summary.harmed == 0, summary.detail()
    assert (summary.rounds, summary.failovers, summary.without_failover, summary.idle) == (ROUNDS, [], 0, [])
    assert summary.outcome(claimed=True) is Outcome.PASS
    for record in summary.cluster_rounds:
        assert (record.struck, record.successor, record.primary, record.failover_second) == ("n1", None, "n1", None)
        assert (record.healed_second or 0) >= Split.lasts
        after = [each for each in record.spans if each.phase == "after"]
        assert sum(each.acknowledged for each in after) > 0, "clients go on once it has ended"
    assert "network healed" in cluster.deeds


def test_while_no_node_hears_another_a_cluster_that_waits_acknowledges_nothing() -> None:
    """What it was sent is unknown; one that does not wait acknowledges all the while."""
    for synchronous in (True, False):
        (record, _) = struck(MemoryCluster(synchronous=synchronous), Split()).cluster_rounds
        (during,) = [each for each in record.spans if (each.node, each.phase) == ("n1", "during")]
        assert during.unknown > 0 if synchronous else during.unknown == 0
        assert during.acknowledged <= 8 if synchronous else during.acknowledged > 12  # those on their way when it struck


def test_while_the_nodes_are_far_apart_a_cluster_that_waits_acknowledges_less() -> None:
    """Each write waits for the other side; one that does not wait goes on as before."""
    during = {}
    for synchronous in (True, False):
        (record, _) = struck(MemoryCluster(synchronous=synchronous), Slow()).cluster_rounds
        (span,) = [each for each in record.spans if (each.node, each.phase) == ("n1", "during")]
        assert (span.lost, span.unknown) == (0, 0)
        during[synchronous] = span.acknowledged
    assert 0 < during[True] < during[False] / 2


class Elsewhere(MemoryCluster):
    """When all hear each other again, another node is chosen, whatever it has."""

    def heal(self) -> None:
        if "n1" in self.apart:
            self._primary = "n2"
            self.stores["n2"].follows = False
        super().heal()


def test_another_primary_after_a_split_loses_what_the_old_one_acknowledged_meanwhile() -> None:
    """Unless that waited for another node. The time until it took writes is that of the round, and no failover like others."""
    summary = struck(Elsewhere(synchronous=False), Split())
    first = summary.cluster_rounds[0]
    assert (first.struck, first.successor, first.primary) == ("n1", "n2", "n2")
    assert first.failover_second is not None
    assert first.healed_second is not None
    assert first.failover_second > first.healed_second
    assert first.lost > 5
    assert (summary.failovers, summary.without_failover) == ([], 0)
    assert summary.outcome(claimed=True) is Outcome.FAIL
    kept = struck(Elsewhere(synchronous=True), Split())
    assert kept.harmed == 0, kept.detail()
    assert kept.cluster_rounds[0].successor == "n2"


class Unrepeated(MemoryCluster):
    """What the network loses is not sent again; replicas take what comes, and nothing brings them up to date."""

    sent = 0

    def hearing(self, source: NodeStore) -> list[NodeStore]:
        self.sent += 1
        return [] if self.share and self.sent % 4 else super().hearing(source)

    def heal(self) -> None:
        self.network.heal_all()
        self.deeds.append("healed")


def test_replication_that_does_not_send_again_what_was_lost_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes stay unlike."""
    monkeypatch.setattr(alike, "_SECONDS", 0.0)
    summary = struck(Unrepeated(synchronous=False), Lossy())
    assert summary.unlike > 0, summary.detail()
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_a_cluster_in_which_no_node_takes_writes_afterwards_breaks_the_promise() -> None:
    """It is waited for as long as the topology says; then the audit says what is missing."""

    class Stuck(MemoryCluster):
        def heal(self) -> None:
            super().heal()
            self.stores["n1"].follows = True

        def wait_whole(self) -> None:
            super().wait_whole()
            if "healed" in self.deeds:
                raise StoreDied("the cluster was not whole within 1 s (no node is the primary)", "")

    summary = struck(Stuck(synchronous=True), Split())
    assert summary.rounds == 1
    assert "no node is the primary" in summary.broken
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.outcome(claimed=False) is Outcome.UNSUPPORTED
