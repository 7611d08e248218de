"""A file system of our own under a store's data, from which all that was not synced can be made to vanish in a moment.

It is ext4 on a loop device over a sparse file. The cut is the kernel's own shutdown of the file system without a flush of its
log: what the store was told is on disk is in the file, and nothing else is. A kill cannot show that, since the kernel's page
cache outlives every process.
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
"""Of the file system; the file beneath takes what is written."""
_ROOM: Final = 2 * 2**30
"""Bytes that must be free in memory if the file is to lie there."""
_SHUTDOWN: Final = 0x8004587D
"""EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32): fs/ext4/ext4.h."""
_WITHOUT_LOG: Final = struct.pack("I", 2)
"""EXT4_GOING_FLAGS_NOLOGFLUSH."""
_OPTIONS: Final = b"commit=600"
"""Seconds between the file system's own commits: it must not do the store's work."""
_NOSUID_NODEV: Final = 2 | 4
_FORCE: Final = 1
"""MNT_FORCE."""
_DETACH: Final = 2
"""MNT_DETACH."""
_MOMENT_SECONDS: Final = 0.25
"""A process that has just ended, or a container that just starts, may hold a mount so long; waiting costs less than a copy."""
_QUIET_SECONDS: Final = 30.0
"""How long the writes may take that were under way when the file system was cut off."""
_LOOK_SECONDS: Final = 0.005

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - nothing is opened there whose name somebody could foresee
"""A file system in memory, where there is one."""

_libc = ctypes.CDLL(None, use_errno=True)


class Volume:
    """One mounted file system."""

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
                "a power cut needs a file system of our own under the data, and only root may mount one", "sudo -E $(which pytest) suites/"
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
            raise NotAvailable(f"a power cut needs a file system of our own under the data, and it cannot be had: {reason}") from None
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

        Any other process may hold a copy of the old mount, since every new mount namespace begins with one: mounted again, the device
        would be the file system that was cut off. A copy of the file holds the same, for nothing is written to it any longer.

        Raises:
            MachineFailed: there is no room for the copy, or it cannot be mounted.
        """
        loop = self._attached()
        unmount(self._at)
        deadline = time.monotonic() + _MOMENT_SECONDS
        while in_use := loop.in_use():
            if time.monotonic() > deadline:
                break
            time.sleep(_LOOK_SECONDS)
        try:
            if in_use:
                loop = self._moved(loop)
            self._mount(loop)
        except OSError as reason:
            raise MachineFailed(f"the volume at {self._at} could not be mounted again: {reason}") from None

    def close(self) -> None:
        """See `Disk.close`: what is in the file is lost when the file is removed."""
        unmount(self._at)
        if self._loop is not None:
            self._loop.release()
            self._loop = None

    def _moved(self, old: Loop) -> Loop:
        """What is in the file, on a device of its own; the old one is gone when those end who hold it."""
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

    def _attached(self) -> Loop:
        if self._loop is None:
            raise RuntimeError(f"the volume at {self._at} was closed")
        return self._loop


def base() -> Path | None:
    """Where the file of a volume lies best: in memory, if there is room."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= _ROOM else None


def unmount(at: Path) -> None:
    """Unmount whatever is mounted there, at the latest after a moment; nothing is fine too.

    Who has something open there keeps the file system alive for itself alone.

    Raises:
        MachineFailed: this user may not unmount it.
    """
    deadline = time.monotonic() + _MOMENT_SECONDS
    while True:
        if _libc.umount2(os.fsencode(at), 0) == 0:
            continue
        reason = ctypes.get_errno()
        if reason == errno.EPERM and _mounted(at):  # not root: what we have mounted, a program of root's unmounts for us
            if subprocess.run(["fusermount3", "-u", "-q", "--", str(at)], capture_output=True, check=False).returncode == 0:
                continue
        elif reason != errno.EBUSY:  # not a mount point, or not there
            return
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_SECONDS)
    let_go(at)
    if _mounted(at):
        raise MachineFailed(f"the volume at {at} could not be unmounted: {os.strerror(reason)}", f"umount -l {at}")


def let_go(at: Path) -> None:
    """Unmount whatever is mounted there, now for all who look and later for those who use it still; nothing is fine too."""
    if _libc.umount2(os.fsencode(at), _DETACH) and ctypes.get_errno() == errno.EPERM and _mounted(at):
        subprocess.run(["fusermount3", "-u", "-q", "-z", "--", str(at)], capture_output=True, check=False)


def abort(at: Path) -> None:
    """End the connection of the FUSE file system mounted there to the process that serves it, also for copies of the mount in other
    mount namespaces, as far as this user may."""
    for line in _lines(at):
        with suppress(OSError):
            Path(f"/sys/fs/fuse/connections/{line.split(' ')[2].partition(':')[2]}/abort").write_text("1", encoding="ascii")
    _libc.umount2(os.fsencode(at), _FORCE)


def write_out(at: Path) -> None:
    """Have the kernel write out what it holds of the file system mounted there."""
    directory = os.open(at, os.O_RDONLY)
    try:
        if _libc.syncfs(directory):
            raise OSError(ctypes.get_errno(), "the volume could not be synced")
    finally:
        os.close(directory)


def _mounted(at: Path) -> bool:
    return bool(_lines(at))


def _lines(at: Path) -> list[str]:
    """What the kernel lists as mounted there: a file system whose process has ended answers no other question."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [line for line in lines if str(at) == re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ", 5)[4])]


def _make_file_system(device: str) -> None:
    program = shutil.which("mkfs.ext4", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if program is None:
        raise NotAvailable("a power cut needs the program mkfs.ext4", "apt-get install e2fsprogs")
    command = (program, "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", device)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotAvailable(f"a power cut needs a file system on a loop device, which cannot be had: {done.stderr.strip()}")
