"""Pauses the primary of a cluster for longer than the others wait for it. When it goes on it does not know that it was replaced."""

from __future__ import annotations

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster


class PausePrimary(ClusterFault):
    """SIGSTOP to all processes of its node; what clients sent meanwhile waits for it."""

    name = "pause_primary"

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.node(node).pause()


FAULT = PausePrimary()
