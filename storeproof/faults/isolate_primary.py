"""Parts the primary of a cluster from the other nodes, while clients reach all of them: two nodes may then take writes."""

from __future__ import annotations

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster


class IsolatePrimary(ClusterFault):
    """Packets between it and the others are dropped, without an error on either side."""

    name = "isolate_primary"

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.network.isolate(node)


FAULT = IsolatePrimary()
