"""Kills one node of a cluster: the others must have, and answer, all that was acknowledged."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.launch.handle import Handle


@dataclass(frozen=True)
class OneNodeKill:
    """SIGKILL to the node that has run longest: in turn each, and often the one that leads."""

    name: str = "one_node_kill"
    sudden: bool = True
    cuts_off: bool = False

    def cannot(self, handle: Handle) -> str | None:
        """As the handle says: a single server has no such nodes."""
        return handle.cannot(self.name)

    def strike(self, handle: Handle) -> None:
        """Kill, and wait until it is gone."""
        handle.kill_nodes(handle.nodes[:1])


FAULT = OneNodeKill()
