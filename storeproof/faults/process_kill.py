"""Kills the store's processes: they get no chance to write anything. The operating system keeps what it was given."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.launch.handle import Handle


@dataclass(frozen=True)
class ProcessKill:
    """SIGKILL to every process of the store."""

    name: str = "process_kill"
    sudden: bool = True
    cuts_off: bool = False

    def cannot(self, handle: Handle) -> str | None:
        """As the handle says: a store that somebody else runs is never killed."""
        return handle.cannot(self.name)

    def strike(self, handle: Handle) -> None:
        """Kill, and wait until the processes are gone: a store that still runs could serve from memory what it lost."""
        handle.kill()


FAULT = ProcessKill()
