"""What every fault is. A new one is one file beside this, with a `FAULT`."""

from __future__ import annotations

from typing import Protocol

from storeproof.launch.handle import Handle


class Fault(Protocol):
    """Something that happens to a running store, struck through its handle."""

    @property
    def name(self) -> str:
        """As `fault:` of a guarantee names it, and as `Handle.cannot` is asked."""

    @property
    def sudden(self) -> bool:
        """Whether the store is not told: then the very moment matters, and the last acknowledgement is the moment that hurts most."""

    @property
    def cuts_off(self) -> bool:
        """Whether it takes the disk away before the store itself: it needs a volume under the data, and what the store answers after
        the moment of the fault says nothing, since it may go on in memory."""

    def cannot(self, handle: Handle) -> str | None:
        """Why it cannot be struck on this store, or None if it can. Asked before any load is put on."""

    def strike(self, handle: Handle) -> None:
        """Let it happen. Returns when it has; the time that takes is bounded by the handle."""
