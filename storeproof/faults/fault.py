"""The base class of faults. A new fault is one file in this package, with a `FAULT`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from storeproof.errors import NotAvailable
from storeproof.launch.handle import FaultMeans, Handle


class Fault(ABC):
    """A fault of a running store, struck through its handle."""

    name: ClassVar[str]
    """The name in `fault:` of a guarantee."""
    needs: ClassVar[FaultMeans]
    """The capability that the store's handle must have."""
    sudden: ClassVar[bool] = True
    """Whether it strikes without warning: then its moment matters, and the worst moment is right after an acknowledgement."""

    @property
    def cuts_off(self) -> bool:
        """Whether the store loses its disk before its processes are killed. Such a fault needs a special disk under the data, and an answer
        after the fault says nothing, since the store may continue in memory."""
        return self.needs is FaultMeans.CUT_POWER

    def cannot(self, handle: Handle) -> NotAvailable | None:
        """Why the fault is impossible on this store, to be raised, or None. Checked before the load starts."""
        return handle.cannot(self.needs)

    @abstractmethod
    def strike(self, handle: Handle) -> None:
        """Strike. Returns when it is done; the handle limits how long that takes."""
