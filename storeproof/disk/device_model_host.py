"""The process that serves a model of a device: it says `mounted`, or in one line why not, and ends it at the end of its input."""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from storeproof.disk.device_model import WHAT
from storeproof.disk.ext4 import make_file_system, mount, unmount_lazily
from storeproof.disk.loop import attach
from storeproof.errors import NotAvailable
from storeproof.spec.device import DeviceSheet

if TYPE_CHECKING:
    from storeproof.native import DeviceDisk

_SET_IO_FLUSHER: Final = 57
"""PR_SET_IO_FLUSHER, since Linux 5.6: include/uapi/linux/prctl.h."""
_LOOK_SECONDS: Final = 1.0
_GONE_SECONDS: Final = 20.0
"""How long who has started this, or its reaper, may take to end the servers and unmount it."""
_GONE_LOOK_SECONDS: Final = 0.01


def main(at: str, beneath: str, sheet: str, capacity: str) -> None:
    """Serve until the input ends, the parent has ended, or another process has unmounted it."""
    from storeproof.native import DeviceDisk

    parent = os.getppid()
    # Where memory is short, what it asks for must not wait for a write to the file system that it serves. Its threads inherit that; without
    # CAP_SYS_RESOURCE the kernel refuses it.
    ctypes.CDLL(None).prctl(_SET_IO_FLUSHER, 1, 0, 0, 0)
    try:
        with _needing("a FUSE file system"):
            disk = DeviceDisk(beneath, DeviceSheet.model_validate_json(sheet), int(capacity))
        mount_over(Path(beneath), Path(at))
    except NotAvailable as reason:
        print(" ".join(str(reason).split()), flush=True)
        return
    disk.hurry(False)
    print("mounted", flush=True)
    # A forked worker may keep the input open after the parent's end.
    while not disk.unmounted and os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], _LOOK_SECONDS)
        if readable and not os.read(0, 4096):
            break
    disk.hurry(True)
    if not _ends(disk):
        unmount_lazily(Path(at))
        _ends(disk)


def mount_over(beneath: Path, at: Path) -> None:
    """Mount ext4 over the file system beneath, which needs no place of its own any more.

    The loop device holds its file, and the mount holds the loop device: so the end of the mount is the end of all.

    Raises:
        NotAvailable: this machine or this user cannot.
    """
    try:
        with _needing("a loop device"):
            loop = attach(beneath / "device", direct=True)
    finally:
        unmount_lazily(beneath)
    try:
        make_file_system(loop.path, WHAT)
        with _needing("to be mounted"):
            mount(loop.path, at)
    finally:
        loop.release()


@contextmanager
def _needing(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise NotAvailable(f"{WHAT} needs {what}: {reason}") from None


def _ends(disk: DeviceDisk) -> bool:
    """Whether it is unmounted in time."""
    deadline = time.monotonic() + _GONE_SECONDS
    while not disk.unmounted and time.monotonic() < deadline:
        time.sleep(_GONE_LOOK_SECONDS)
    return disk.unmounted


if __name__ == "__main__":
    main(*sys.argv[1:])
