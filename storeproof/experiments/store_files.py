"""Observes, from the beginning of a load to the fault, whether what clients write reaches the files that the fault strikes."""

from __future__ import annotations

from storeproof.history import Reach
from storeproof.launch.handle import Handle


class StoreFiles:
    def __init__(self, handle: Handle) -> None:
        """The load begins. Raises `NotAvailable` if the files cannot be seen from here."""
        self._handle = handle
        self._written = handle.data_written()
        self._elsewhere: tuple[str, ...] = ()

    def look(self) -> None:
        """Look for files elsewhere that the store writes to: while it is under load."""
        self._elsewhere = tuple(self._handle.files_elsewhere())

    def reach(self) -> Reach:
        """The fault has struck."""
        return Reach(self._written.bytes(), self._elsewhere)
