"""Kills all data nodes of a cluster at once; the server that clients use keeps running, and must not answer from memory."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class AllNodesKill(Fault):
    """SIGKILL to every node that the store's file names."""

    name = "all_nodes_kill"
    needs = FaultMeans.KILL_NODES

    def strike(self, handle: Handle) -> None:
        handle.kill_nodes(handle.nodes)


FAULT = AllNodesKill()
