"""Asks the store to stop, as an administrator does; what it was told to keep it can write now."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.launch.handle import Handle


@dataclass(frozen=True)
class CleanRestart:
    """The stop half of a restart; the start is the caller's, as after every fault."""

    name: str = "clean_restart"
    sudden: bool = False
    cuts_off: bool = False

    def cannot(self, handle: Handle) -> str | None:
        """As the handle says: a store that somebody else runs is never stopped."""
        return handle.cannot(self.name)

    def strike(self, handle: Handle) -> None:
        """Stop and wait for the end.

        Raises:
            StoreDied: it did not end in time.
        """
        handle.stop()


FAULT = CleanRestart()
