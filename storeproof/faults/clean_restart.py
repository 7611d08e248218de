"""Asks the store to stop, as an administrator does: it has time to write everything."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import Capability, Handle


class CleanRestart(Fault):
    """The stop half of a restart; the start is the caller's, as after every fault."""

    name = "clean_restart"
    needs = Capability.STOP
    sudden = False

    def strike(self, handle: Handle) -> None:
        """Stop and wait for the end.

        Raises:
            StoreDied: it did not end in time.
        """
        handle.stop()


FAULT = CleanRestart()
