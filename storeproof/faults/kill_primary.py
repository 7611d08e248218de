"""Kills the primary of a cluster: another node must take over. On one machine the others have nearly all of its writes."""

from __future__ import annotations

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster


class KillPrimary(ClusterFault):
    """SIGKILL to all servers of its node. When another node has taken over they start again, with the data that they had."""

    name = "kill_primary"
    loses_node = True

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.node(node).kill()


FAULT = KillPrimary()
