"""Kills the primary of a cluster, and then the one that took its place, while the first comes back: a second fault during recovery."""

from __future__ import annotations

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster


class SecondPrimary(ClusterFault):
    """SIGKILL to all servers of its node. When another node has taken over the first one starts again with its data; as soon as it is a
    member again, which need not have caught up, the other is killed.

    So one node at a time is gone, and no disk is lost: a majority is always there, and whatever it acknowledged is on a disk of it. A third
    node may be behind both.
    """

    name = "second_primary"
    loses_node = True
    second_lasts = 10.0

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.node(node).kill()

    def strike_again(self, cluster: RunningCluster, node: str, successor: str) -> None:
        """Bring the first one back, and kill the other."""
        cluster.bring_back(node)
        cluster.node(successor).kill()


FAULT = SecondPrimary()
