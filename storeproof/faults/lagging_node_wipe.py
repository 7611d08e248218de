"""Loses the primary of a cluster with its disk, while the other nodes lag behind it.

Without the lag this shows almost nothing: on one machine the others are microseconds behind, so that even an asynchronous replication
loses nothing. And if all lagged alike, it would not matter which of them takes over.
"""

from __future__ import annotations

import time
from typing import Final

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster

_LAG_SECONDS: Final = 1.0
_KBIT: Final = 96
"""Kilobits per second towards another node: less than clients write."""
_LEAST_KBIT: Final = 16
"""Towards the node after the lost one in the file, and around its end: a failover that takes the first one, or the last, will meet it."""


class LaggingNodeWipe(ClusterFault):
    """What it sends to the others is slowed down, to one of them more; then its link goes down, its processes are killed, and its data is
    removed.

    The link comes first: a machine that is lost sends no last packets, and closes no connections.
    """

    name = "lagging_node_wipe"
    loses_node = True

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        """Strike, and return when its data is gone."""
        after = cluster.nodes[(cluster.nodes.index(node) + 1) % len(cluster.nodes)]
        cluster.network.slow(node, {name: _LEAST_KBIT if name == after else _KBIT for name in cluster.nodes if name != node})
        time.sleep(_LAG_SECONDS)
        cluster.network.unplug(node)
        cluster.node(node).kill()
        cluster.node(node).empty()


FAULT = LaggingNodeWipe()
