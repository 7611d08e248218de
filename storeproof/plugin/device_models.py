"""`--disk=NAME=model:MODEL`: models of devices, which are mounted before the stores are launched on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from storeproof.cleanup.reaper import reap_at_exit
from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.disk.device_model import DeviceModel
from storeproof.errors import NotAvailable, UsageError
from storeproof.spec.device import DeviceSheet


@dataclass
class _Mounted:
    """A model, and the directory that it is in."""

    directory: WorkDir
    model: DeviceModel | None = None

    def close(self) -> None:
        if self.model is not None:
            self.model.close()
        self.directory.remove()


def mount_models(disks: Mapping[str, Path | DeviceSheet]) -> dict[str, Path]:
    """The directory on each disk, by the disk's name: a model is mounted, and unmounted when this process ends.

    Raises:
        UsageError: this machine or this user cannot mount one.
    """
    return {name: _mount(name, disk) if isinstance(disk, DeviceSheet) else disk for name, disk in disks.items()}


def _mount(name: str, sheet: DeviceSheet) -> Path:
    with registry.deferring_signals():
        try:
            mounted = _Mounted(WorkDir.make(default_base(), keep=False))
            registry.add(mounted)
            reap_at_exit(default_base())
            mounted.model = DeviceModel(mounted.directory.data, mounted.directory.run, sheet)
        except NotAvailable as reason:
            raise UsageError(f"--disk {name}: {reason}") from None
    return mounted.directory.data
