"""Kills one node of a cluster: the others must return everything that was acknowledged."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class OneNodeKill(Fault):
    """SIGKILL to the node that has run longest: each node in turn, and often the leader."""

    name = "one_node_kill"
    needs = FaultMeans.KILL_NODES

    def strike(self, handle: Handle) -> None:
        handle.kill_nodes(handle.nodes[:1])


FAULT = OneNodeKill()
