"""Makes the primary of a cluster deaf to the other nodes, which hear it, while clients reach all: the network fails in one direction."""

from __future__ import annotations

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster


class DeafPrimary(ClusterFault):
    """What the others send it is dropped, without an error on either side. It misses their answers; they go on getting what it sends, as
    far as TCP sends without an answer."""

    name = "deaf_primary"

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.network.deafen(node)


FAULT = DeafPrimary()
