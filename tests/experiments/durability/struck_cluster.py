"""Rounds of faults on a cluster in this process."""

from __future__ import annotations

import time

import pytest

from storeproof.contract import Layout
from storeproof.experiments.durability.clusters.cluster_rounds import ClusterRounds
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory_cluster import MemoryCluster, connect_to, subject
from tests.shipped import SHIPPED

ROUNDS = 2
SCALE = DurabilityScale.model_construct(rounds=ROUNDS, clients=4, load_seconds=(0.01, 0.03))
LAYOUTS = {name: Layout(f"c_{name}", SHIPPED.models[name]) for name in ("single_key", "hash10", "counter")}


class Lose(ClusterFault):
    """As `lagging_node_wipe`, without its second."""

    name = "lose"
    loses_node = True

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.network.slow(node, {})
        time.sleep(0.02)
        cluster.network.unplug(node)
        cluster.node(node).kill()
        cluster.node(node).empty()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real cluster needs seconds for, this one does at once."""
    for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
        monkeypatch.setattr(cluster_strike, name, 0.03)
    monkeypatch.setattr("storeproof.machine.deadline.machine_is_busy", lambda: "")
    monkeypatch.setattr(cluster_strike, "machine_is_busy", lambda: "")


def struck(
    cluster: MemoryCluster, *faults: ClusterFault, summary: DurabilitySummary | None = None, stale_possible: bool = True
) -> DurabilitySummary:
    """All rounds."""
    rounds = ClusterRounds(
        subject(cluster),
        faults,
        LAYOUTS,
        SCALE,
        connect_to=lambda address: connect_to(cluster, address),
        stale_possible=stale_possible,
        summary=summary,
    )
    rounds.run()
    return rounds.summary
