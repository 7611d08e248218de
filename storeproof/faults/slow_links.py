"""Holds every packet between the nodes of a cluster back for a while, as over a great distance; clients notice nothing."""

from __future__ import annotations

from typing import Final

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster

_SECONDS: Final = 0.1
"""In each direction: an answer takes a fifth of a second, as from the other side of the earth."""


class SlowLinks(ClusterFault):
    """The distance between nodes grows suddenly, and nothing is lost. What waits for another node waits longer; what does not is ahead of
    it by more."""

    name = "slow_links"
    lasts = 5.0

    def strike_node(self, cluster: RunningCluster, node: str) -> None:  # noqa: ARG002 - it strikes all
        """On all links, whichever node is the primary."""
        cluster.network.delay(_SECONDS)


FAULT = SlowLinks()
