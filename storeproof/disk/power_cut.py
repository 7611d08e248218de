"""What a store's handle does with the disk under its data, however it starts and ends the store."""

from __future__ import annotations

from abc import ABC, abstractmethod

from storeproof.disk.ext4 import NO_VOLUME
from storeproof.disk.methods import Disk
from storeproof.errors import NotAvailable


class Cuttable(ABC):
    """A part of a handle. `_volume` is None where the handle was not made for it."""

    _volume: Disk | None

    @property
    def cut_by(self) -> str | None:
        """See `Handle.cut_by`."""
        return self._volume.method if self._volume is not None else None

    @abstractmethod
    def start(self) -> float:
        """See `Handle.start`."""

    @abstractmethod
    def stop(self) -> None:
        """See `Handle.stop`."""

    @abstractmethod
    def kill(self) -> None:
        """See `Handle.kill`."""

    def settle(self) -> None:
        """See `Handle.settle`."""
        volume = self._cuttable()
        self.stop()
        volume.settle()
        self.start()

    def cut_power(self) -> None:
        """See `Handle.cut_power`."""
        volume = self._cuttable()
        volume.cut()
        self.kill()
        volume.renew()

    def _cuttable(self) -> Disk:
        if self._volume is None:
            raise NotAvailable(NO_VOLUME)
        return self._volume
