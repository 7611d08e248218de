"""A model of a device: ext4 on a loop device over a file in memory that answers as slowly as the device. The launcher's side.

All of it belongs to another process (`device_model_host`), so that a crash or SIGKILL of storeproof leaves nothing behind.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Final

import psutil

from storeproof import native_support
from storeproof.disk.ext4 import unmount
from storeproof.disk.fuse import check_device, wait_for_end
from storeproof.errors import NotAvailable
from storeproof.spec.device import DeviceSheet

WHAT: Final = "a model of a device"
_LARGEST: Final = 2 * 2**30
"""Bytes of the device. What was never written takes no memory."""
_MOUNT_SECONDS: Final = 120.0
_END_SECONDS: Final = 60.0


class DeviceModel:
    """One mounted model, for all users."""

    def __init__(self, at: Path, beneath: Path, sheet: DeviceSheet) -> None:
        """Mount it.

        Args:
            at: an empty directory to mount it on.
            beneath: another, which is empty again once it is mounted.
            sheet: what it answers by.

        Raises:
            NotAvailable: this machine or this user cannot mount one.
        """
        if os.geteuid() != 0:
            raise NotAvailable(f"{WHAT} is mounted, and only root may do that", "sudo -E $(which pytest) suites/")
        native_support.require(WHAT)
        check_device(WHAT)
        self._at = at
        capacity = min(_LARGEST, psutil.virtual_memory().available // 2)
        self._host = subprocess.Popen(
            [sys.executable, "-m", "storeproof.disk.device_model_host", str(at), str(beneath), sheet.model_dump_json(), str(capacity)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # Ctrl-C must not end it: it must outlive the stores
            text=True,
        )
        try:
            self._wait_until_mounted()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unmount it and drop its contents. May be called twice."""
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        self._host.stdin.close()  # from now on it answers at once
        unmount(self._at)
        wait_for_end(self._host, _END_SECONDS)
        self._host.stdout.close()

    def _wait_until_mounted(self) -> None:
        assert self._host.stdout is not None
        readable, _, _ = select.select([self._host.stdout], [], [], _MOUNT_SECONDS)
        answer = self._host.stdout.readline().rstrip("\n") if readable else f"it was not mounted in {_MOUNT_SECONDS:g} s"
        if answer != "mounted":
            raise NotAvailable(answer or f"{WHAT} could not be mounted: its process has ended")
