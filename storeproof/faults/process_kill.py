"""Kills the store's processes: they cannot write any more, but the page cache keeps what they wrote."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class ProcessKill(Fault):
    """SIGKILL to every process of the store."""

    name = "process_kill"
    needs = FaultMeans.KILL

    def strike(self, handle: Handle) -> None:
        """Kill, and wait until the processes are gone: a store that still runs could serve lost data from memory."""
        handle.kill()


FAULT = ProcessKill()
