"""Cuts the power: what the store has not had synced is gone, and nothing that it still does reaches the disk."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.launch.handle import Handle


@dataclass(frozen=True)
class PowerCut:
    """The file system under the data is shut down without a flush, the processes are killed, and it is mounted again."""

    name: str = "power_cut"
    sudden: bool = True
    cuts_off: bool = True

    def cannot(self, handle: Handle) -> str | None:
        """As the handle says: the data must lie on a volume of ours."""
        return handle.cannot(self.name)

    def strike(self, handle: Handle) -> None:
        """Cut, and wait until the processes are gone and the power is back."""
        handle.cut_power()


FAULT = PowerCut()
