"""What every fault is. A new one is one file beside this, with a `FAULT`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from storeproof.launch.handle import Capability, Handle


class Fault(ABC):
    """Something that happens to a running store, struck through its handle."""

    name: ClassVar[str]
    """As `fault:` of a guarantee names it."""
    needs: ClassVar[Capability]
    """What the store's handle must be able to do."""
    sudden: ClassVar[bool] = True
    """Whether it comes without warning: then its moment matters, and the worst is just after an acknowledgement."""

    @property
    def cuts_off(self) -> bool:
        """Whether it takes the disk away before the store itself: it needs a disk of ours under the data, and what the store answers
        after the moment of the fault says nothing, since it may go on in memory."""
        return self.needs is Capability.CUT_POWER

    def cannot(self, handle: Handle) -> str | None:
        """Why it cannot be struck on this store, or None if it can. Asked before any load is put on."""
        return handle.cannot(self.needs)

    @abstractmethod
    def strike(self, handle: Handle) -> None:
        """Let it happen. Returns when it has; the time that takes is bounded by the handle."""
