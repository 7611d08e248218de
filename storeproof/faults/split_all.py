"""Parts every node of a cluster from every other, while clients reach all: no node has a majority, and none should take writes."""

from __future__ import annotations

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster


class SplitAll(ClusterFault):
    """Packets between any two nodes are dropped, without an error. When it ends, any node may become the primary, also the same one."""

    name = "split_all"
    lasts = 5.0

    def strike_node(self, cluster: RunningCluster, node: str) -> None:  # noqa: ARG002 - it strikes all
        """Part all, whichever is the primary."""
        cluster.network.split()


FAULT = SplitAll()
