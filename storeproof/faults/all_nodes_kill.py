"""Kills all nodes of a cluster that hold data at once; the server that clients talk to runs on, and must not answer from memory."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.launch.handle import Handle


@dataclass(frozen=True)
class AllNodesKill:
    """SIGKILL to every node that the store's file names."""

    name: str = "all_nodes_kill"
    sudden: bool = True
    cuts_off: bool = False

    def cannot(self, handle: Handle) -> str | None:
        """As the handle says: a single server has no such nodes."""
        return handle.cannot(self.name)

    def strike(self, handle: Handle) -> None:
        """Kill, and wait until they are gone."""
        handle.kill_nodes(handle.nodes)


FAULT = AllNodesKill()
