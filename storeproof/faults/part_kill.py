"""Kills one server of a composite store: its front or its home. No guarantee names it; the cases of composite stores do."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class PartKill(Fault):
    """SIGKILL to one server, while the other goes on."""

    name = "part_kill"
    needs = FaultMeans.KILL_NODES

    def __init__(self, role: str) -> None:
        """`role`: the server, by its name among the handle's nodes."""
        self.role = role

    def strike(self, handle: Handle) -> None:
        handle.kill_nodes([self.role])
