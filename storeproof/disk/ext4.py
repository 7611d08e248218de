"""A file system under a store's data that loses, when its power is cut, everything that was not synced.

It is ext4 on a loop device over a sparse file. The cut is the kernel's own shutdown of the file system without a flush of its
journal: only what the kernel reported as synced is in the file. A kill cannot show that, since the kernel's page cache outlives
every process.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import shutil
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from storeproof.disk.loop import Loop, attach
from storeproof.errors import MachineFailed, NotAvailable

_BYTES: Final = 4 * 2**30
"""Size of the file system. The file beneath it is sparse."""
_ROOM: Final = 2 * 2**30
"""Bytes that must be free in memory for the file to be placed there."""
_SHUTDOWN: Final = 0x8004587D
"""EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32): fs/ext4/ext4.h."""
_WITHOUT_LOG: Final = struct.pack("I", 2)
"""EXT4_GOING_FLAGS_NOLOGFLUSH."""
_OPTIONS: Final = b"commit=600"
"""Seconds between the file system's own commits: it must not sync on the store's behalf."""
_NOSUID_NODEV: Final = 2 | 4
_FORCE: Final = 1
"""MNT_FORCE."""
_DETACH: Final = 2
"""MNT_DETACH."""
_MOMENT_SECONDS: Final = 0.25
"""How long a process that has just ended, or a container that just starts, may hold a mount; waiting costs less than a copy."""
_QUIET_SECONDS: Final = 30.0
"""How long writes that were in flight at the cut may take."""
_LOOK_SECONDS: Final = 0.005

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - only unpredictable names are opened there
"""A file system in memory, where there is one."""

_libc = ctypes.CDLL(None, use_errno=True)


class Ext4Disk:
    """One mounted file system: see `Disk`."""

    method = "ext4 on a loop device"

    def __init__(self, at: Path, image: Path) -> None:
        """Make and mount it.

        Args:
            at: an empty directory, where it is mounted; `unmount` ends that, in this process or a later one.
            image: the file that it lies in; it is made.

        Raises:
            NotAvailable: this machine or this user cannot mount one.
        """
        if os.geteuid() != 0:
            raise NotAvailable(
                "a power cut needs a separate file system for the data, and only root may mount one", "sudo -E $(which pytest) suites/"
            )
        self._at = at
        self._image = image
        with image.open("xb") as file:
            file.truncate(_BYTES)
        self._loop: Loop | None = None
        try:
            self._loop = attach(image)
            _make_file_system(self._loop.path)
            self._mount(self._loop)
        except OSError as reason:
            self.close()
            raise NotAvailable(f"a power cut needs a separate file system for the data, which cannot be created: {reason}") from None
        except BaseException:
            self.close()
            raise
        (at / "lost+found").rmdir()  # servers want their directory empty
        self.sync()  # else it would be there again after the first cut

    def sync(self) -> None:
        """See `Disk.sync`."""
        write_out(self._at)

    def cut(self) -> None:
        """See `Disk.cut`: from now on nothing reaches the file."""
        directory = os.open(self._at, os.O_RDONLY)
        try:
            fcntl.ioctl(directory, _SHUTDOWN, _WITHOUT_LOG)
        finally:
            os.close(directory)

    def remount(self) -> None:
        """See `Disk.remount`. What is in the file is mounted.

        Another process may hold a copy of the old mount, since every new mount namespace begins with one. The device would then give
        the file system that was shut down, so a copy of the file is mounted: nothing is written to the file any more.

        Raises:
            MachineFailed: there is no room for the copy, or it cannot be mounted.
        """
        loop = self._open_loop()
        unmount(self._at)
        deadline = time.monotonic() + _MOMENT_SECONDS
        while in_use := loop.in_use():
            if time.monotonic() > deadline:
                break
            time.sleep(_LOOK_SECONDS)
        try:
            if in_use:
                loop = self._copy_to_new_device(loop)
            self._mount(loop)
        except OSError as reason:
            raise MachineFailed(f"the volume at {self._at} could not be mounted again: {reason}") from None

    def close(self) -> None:
        """See `Disk.close`: what is in the file is lost when the file is removed."""
        unmount(self._at)
        if self._loop is not None:
            self._loop.release()
            self._loop = None

    def _copy_to_new_device(self, old: Loop) -> Loop:
        """A copy of the file on a new device; the kernel detaches the old one when its last user ends."""
        deadline = time.monotonic() + _QUIET_SECONDS
        while old.requests():
            if time.monotonic() > deadline:
                raise MachineFailed(f"writes to {self._image} are still under way {_QUIET_SECONDS:g} s after the cut")
            time.sleep(_LOOK_SECONDS)
        fresh = self._image.with_name(f"{self._image.name}.new")
        done = subprocess.run(
            ["cp", "--sparse=always", "--reflink=auto", "--", self._image, fresh], capture_output=True, text=True, check=False
        )
        if done.returncode:
            fresh.unlink(missing_ok=True)
            raise MachineFailed(
                f"the volume at {self._at} is mounted in another mount namespace and could not be copied: {done.stderr.strip()}",
                "make room, or name another directory with --data-dir",
            )
        self._loop = attach(fresh)
        old.release()
        fresh.replace(self._image)
        return self._loop

    def _mount(self, loop: Loop) -> None:
        if _libc.mount(loop.path.encode(), os.fsencode(self._at), b"ext4", _NOSUID_NODEV, _OPTIONS):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), loop.path)

    def _open_loop(self) -> Loop:
        if self._loop is None:
            raise RuntimeError(f"the volume at {self._at} was closed")
        return self._loop


def memory_base() -> Path | None:
    """The best place for the file: in memory, if there is room; else None."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= _ROOM else None


def unmount(at: Path) -> None:
    """Unmount what is mounted there, lazily if it is still busy after a moment; nothing mounted is fine.

    A process with open files there keeps the file system alive, invisible to others.

    Raises:
        MachineFailed: this user may not unmount it.
    """
    deadline = time.monotonic() + _MOMENT_SECONDS
    while True:
        if _libc.umount2(os.fsencode(at), 0) == 0:
            continue
        reason = ctypes.get_errno()
        if reason == errno.EPERM and _is_mounted(at):  # not root: what we have mounted, a program of root's unmounts for us
            if subprocess.run(["fusermount3", "-u", "-q", "--", str(at)], capture_output=True, check=False).returncode == 0:
                continue
        elif reason != errno.EBUSY:  # not a mount point, or not there
            return
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_SECONDS)
    unmount_lazily(at)
    if _is_mounted(at):
        raise MachineFailed(f"the volume at {at} could not be unmounted: {os.strerror(reason)}", f"umount -l {at}")


def unmount_lazily(at: Path) -> None:
    """Detach what is mounted there from the tree now, and unmount it when its last user ends; nothing mounted is fine."""
    if _libc.umount2(os.fsencode(at), _DETACH) and ctypes.get_errno() == errno.EPERM and _is_mounted(at):
        subprocess.run(["fusermount3", "-u", "-q", "-z", "--", str(at)], capture_output=True, check=False)


def abort(at: Path) -> None:
    """Abort the FUSE connection of the file system mounted there, which ends copies of the mount in other mount namespaces too, as far
    as this user may."""
    for line in _mount_table(at):
        with suppress(OSError):
            Path(f"/sys/fs/fuse/connections/{line.split(' ')[2].partition(':')[2]}/abort").write_text("1", encoding="ascii")
    _libc.umount2(os.fsencode(at), _FORCE)


def write_out(at: Path) -> None:
    """Have the kernel write out the dirty pages of the file system mounted there: syncfs(2)."""
    directory = os.open(at, os.O_RDONLY)
    try:
        if _libc.syncfs(directory):
            raise OSError(ctypes.get_errno(), "the volume could not be synced")
    finally:
        os.close(directory)


def _is_mounted(at: Path) -> bool:
    return bool(_mount_table(at))


def _mount_table(at: Path) -> list[str]:
    """The kernel's lines about what is mounted there; stat(2) would fail on a FUSE file system whose process has ended.

    By hand: psutil has no device numbers, by which FUSE connections are found."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [line for line in lines if str(at) == re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ", 5)[4])]


def _make_file_system(device: str) -> None:
    program = shutil.which("mkfs.ext4", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if program is None:
        raise NotAvailable("a power cut needs the program mkfs.ext4", "apt-get install e2fsprogs")
    command = (program, "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", device)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotAvailable(f"a power cut needs a file system on a loop device, and mkfs.ext4 failed: {done.stderr.strip()}")
