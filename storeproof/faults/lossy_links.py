"""Drops a share of all packets between the nodes of a cluster, while clients lose none: nodes take each other for lost, and hear each other
again a moment later."""

from __future__ import annotations

from typing import Final

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster

_SHARE: Final = 0.75
"""The share of packets that are lost in each direction."""


class LossyLinks(ClusterFault):
    """TCP sends again what was lost, and waits twice as long each time: what nodes tell each other arrives late, in bursts. The primary may
    stay the primary, or change several times."""

    name = "lossy_links"
    lasts = 5.0

    def strike_node(self, cluster: RunningCluster, node: str) -> None:  # noqa: ARG002 - it strikes all
        """On all links, whichever node is the primary."""
        cluster.network.lose(_SHARE)


FAULT = LossyLinks()
