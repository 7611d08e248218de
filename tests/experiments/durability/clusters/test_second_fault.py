"""A second fault during recovery: the node that took over is killed while the first one comes back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from storeproof.check import Anomaly
from storeproof.contract import Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.durability.clusters import alike
from storeproof.faults.second_primary import SecondPrimary
from storeproof.outcome import Outcome
from tests.experiments.durability.memory_cluster import Kill, MemoryCluster, NodeStore
from tests.experiments.durability.struck_cluster import ROUNDS, short, struck

__all__ = ["short"]


class Second(SecondPrimary):
    """It waits less for a third node."""

    second_lasts = 0.3


def test_a_cluster_that_goes_on_with_the_node_that_has_most_keeps_everything() -> None:
    """The third takes over, and clients go on there; each round says who was struck, who took over, and when."""
    cluster = MemoryCluster(synchronous=True)
    summary = struck(cluster, Second())
    assert summary.harmed == 0, summary.detail()
    assert (summary.rounds, len(summary.failovers), summary.without_failover, summary.unlike) == (ROUNDS, ROUNDS, 0, 0)
    assert summary.outcome(claimed=True) is Outcome.PASS
    record = summary.cluster_rounds[0]
    second = record.second_strike
    assert second is not None
    assert (record.struck, record.successor, second.node, second.successor, record.primary) == ("n1", "n2", "n2", "n3", "n3")
    moments = [0, record.failover_second or 0, second.second, second.failover_second or 0, record.healed_second or 0, record.ended_second]
    assert moments == sorted(moments)
    assert {each.node for each in record.spans if each.acknowledged and each.phase != "before"} >= {"n2", "n3"}
    assert [each for each in cluster.deeds if each != "whole"][:3] == ["n1 back", "network healed", "healed"]


def test_a_failover_to_the_node_that_has_just_come_back_is_caught() -> None:
    """It lacks what the second primary acknowledged while it was gone. One fault at a time does not show that."""

    class First(MemoryCluster):
        def elect(self, candidates: Sequence[str]) -> str:
            return candidates[0]

    summary = struck(First(synchronous=True), Second())
    assert summary.lossy == ROUNDS, summary.detail()
    assert summary.anomalies[Anomaly.LOST] > 0
    assert summary.cluster_rounds[0].second_strike is not None
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.outcome(claimed=False) is Outcome.UNSUPPORTED


class Patient(MemoryCluster):
    """None takes over from the second primary: it waits until that is back."""

    def primary(self) -> str:
        if self.behind and not self.stores[self._primary].alive:
            raise Unknown("no node is the primary")
        return super().primary()

    def heal(self) -> None:
        if not self.stores[self._primary].alive:
            self.stores[self._primary].begin()
        super().heal()


def test_that_no_third_node_takes_over_breaks_no_promise() -> None:
    """The second one is started again, and all that it had is there."""
    summary = struck(Patient(synchronous=True), Second())
    assert (summary.rounds, summary.lossy) == (ROUNDS, 0), summary.detail()
    second = summary.cluster_rounds[0].second_strike
    assert second is not None
    assert (second.node, second.successor, second.failover_second) == ("n2", None, None)
    assert summary.outcome(claimed=True) is Outcome.PASS


def test_an_operator_that_promotes_none_is_no_error() -> None:
    """Another node might have acknowledged more than those that answer."""

    class Careful(Patient):
        def fail_over(self) -> None:
            if self.behind:
                raise Unknown("standbys that answer: n3")

    summary = struck(Careful(synchronous=True), Second())
    assert (summary.rounds, summary.lossy) == (ROUNDS, 0), summary.detail()


def test_a_first_node_that_does_not_come_back_is_a_failure() -> None:
    """It ended by itself, with its data: that is no deed of the fault."""

    class Broken(MemoryCluster):
        def bring_back(self, name: str) -> None:
            raise StoreDied(f"{name} ended with exit status 1", "")

    summary = struck(Broken(synchronous=True), Second())
    assert "n1 ended with exit status 1" in summary.broken
    assert summary.outcome(claimed=False) is Outcome.FAIL


def test_what_the_second_one_acknowledged_alone_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that waits for a replica only while all of them are there: another fault does not show that, since its disk comes back."""

    class Alone(MemoryCluster):
        def hearing(self, source: NodeStore) -> list[NodeStore]:
            return super().hearing(source) if all(each.alive for each in self.stores.values()) else []

    monkeypatch.setattr(alike, "_SECONDS", 0.0)
    summary = struck(Alone(synchronous=False), Second())
    assert summary.lossy == ROUNDS, summary.detail()
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert struck(Alone(synchronous=False), Kill()).lossy == 0


@pytest.mark.parametrize("synchronous", [True, False])
def test_the_audit_follows_the_end_of_the_fault(synchronous: bool) -> None:
    """All nodes are back under load, and nothing is read while one is gone."""
    for record in struck(MemoryCluster(synchronous=synchronous), Second()).cluster_rounds:
        assert record.healed_second is not None
        assert sum(each.acknowledged for each in record.spans if each.phase == "after") > 0
