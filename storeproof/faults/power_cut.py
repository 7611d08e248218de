"""Cuts the power: what was not synced is lost, and no later write reaches the disk."""

from __future__ import annotations

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle


class PowerCut(Fault):
    """The file system under the data is shut down without a flush, the processes are killed, and it is mounted again."""

    name = "power_cut"
    needs = FaultMeans.CUT_POWER

    def strike(self, handle: Handle) -> None:
        """Cut the power, and wait until the processes are gone and the file system is mounted again."""
        handle.cut_power()


FAULT = PowerCut()
