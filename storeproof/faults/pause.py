"""Freezes the store: it neither answers nor closes its connections. Clients must time out, and must not take that for a refusal."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import Capability, Handle


class Pause(Fault):
    """SIGSTOP; SIGCONT ends it. No guarantee names it: nothing is lost by it. It shows what clients see of a store that hangs."""

    name = "pause"
    needs = Capability.PAUSE

    def strike(self, handle: Handle) -> None:
        """Freeze. The caller ends it with `end`, also when a check fails in between."""
        handle.pause()

    def end(self, handle: Handle) -> None:
        """Let the store go on."""
        handle.resume()


FAULT = Pause()
