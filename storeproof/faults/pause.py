"""Pauses the store: it neither answers nor closes its connections. Clients must time out, and must not treat that as a refusal."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class Pause(Fault):
    """SIGSTOP; SIGCONT ends it. No guarantee names it, since it loses nothing. It shows what clients see when a store hangs."""

    name = "pause"
    needs = FaultMeans.PAUSE

    def strike(self, handle: Handle) -> None:
        """Pause the store. The caller ends the pause with `end`, even if a check fails in between."""
        handle.pause()

    def end(self, handle: Handle) -> None:
        handle.resume()


FAULT = Pause()
