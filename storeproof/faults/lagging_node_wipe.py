"""Loses the primary of a cluster with its disk, while the other nodes lag behind it.

Without the lag this shows almost nothing: on one machine the others are microseconds behind, so that even an asynchronous replication
loses nothing.
"""

from __future__ import annotations

import time
from typing import Final

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster

_LAG_SECONDS: Final = 1.0
_KBIT: Final = 128
"""Kilobits per second towards all other nodes together: less than clients write."""


class LaggingNodeWipe(ClusterFault):
    """What it sends to the others is slowed down; then its link goes down, its processes are killed, and its data is removed.

    The link comes first: a machine that is lost sends no last packets, and closes no connections.
    """

    name = "lagging_node_wipe"
    loses_node = True

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        """Strike, and return when its data is gone."""
        cluster.network.slow(node, _KBIT)
        time.sleep(_LAG_SECONDS)
        cluster.network.unplug(node)
        cluster.node(node).kill()
        cluster.node(node).empty()


FAULT = LaggingNodeWipe()
