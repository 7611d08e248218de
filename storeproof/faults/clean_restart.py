"""Stops the store cleanly, as an administrator does: it has time to write everything."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class CleanRestart(Fault):
    """The stop of a restart; the caller starts the store again, as after every fault."""

    name = "clean_restart"
    needs = FaultMeans.STOP
    sudden = False

    def strike(self, handle: Handle) -> None:
        """Stop the store and wait until it has ended. Raises `StoreDied`: it did not end in time."""
        handle.stop()


FAULT = CleanRestart()
