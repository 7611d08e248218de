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
from pathlib import Path
from typing import Final

from storeproof.errors import NotAvailable, StoreDied

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
_DETACH: Final = 2
"""MNT_DETACH."""
GONE_SECONDS: Final = 10.0
"""A container that has ended may hold its mount for a moment."""
_LOOK_SECONDS: Final = 0.005

NO_VOLUME: Final = "its data does not lie on a file system that could be cut off"
"""Why a handle that was not made for it cannot do it."""

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
        with image.open("xb") as file:
            file.truncate(_BYTES)
        self._device = _run("losetup", "--find", "--show", str(image))
        self._held = os.open(self._device, os.O_RDONLY | os.O_CLOEXEC)
        try:
            # Detached at once, which takes effect when nobody holds it any longer: neither we nor the mount. So no crash of ours leaves it.
            _run("losetup", "--detach", self._device)
            _run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", self._device)
            self._mount()
        except BaseException:
            os.close(self._held)
            raise
        (at / "lost+found").rmdir()  # servers want their directory empty
        self.settle()  # else it would be there again after the first cut

    def settle(self) -> None:
        """Write out all that was written so far, as if some hours had passed."""
        write_out(self._at)

    def cut(self) -> None:
        """From now on nothing reaches the file, and all writes fail. What was not synced is gone with the next `renew`."""
        directory = os.open(self._at, os.O_RDONLY)
        try:
            fcntl.ioctl(directory, _SHUTDOWN, _WITHOUT_LOG)
        finally:
            os.close(directory)

    def renew(self) -> None:
        """Mount what is in the file, once nobody uses the old mount: the power is back.

        Raises:
            StoreDied: somebody still does.
        """
        unmount(self._at)
        # A container that starts just now has a copy of our mount for a moment: mounted again, it would be the one that was cut off.
        deadline = time.monotonic() + GONE_SECONDS
        while True:
            try:
                os.close(os.open(self._device, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
                break
            except OSError as reason:
                if reason.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise StoreDied(f"the volume at {self._at} is still mounted in another mount namespace: {reason.strerror}") from None
                time.sleep(_LOOK_SECONDS)
        self._mount()

    def close(self) -> None:
        """Give it up; what is in the file is lost when the file is removed. May be called twice."""
        unmount(self._at)
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def _mount(self) -> None:
        if _libc.mount(self._device.encode(), os.fsencode(self._at), b"ext4", _NOSUID_NODEV, _OPTIONS):
            reason = os.strerror(ctypes.get_errno())
            raise NotAvailable(f"a power cut needs a file system of our own under the data, and it cannot be mounted: {reason}")


def base() -> Path | None:
    """Where the file of a volume lies best: in memory, if there is room."""
    memory = Path("/dev/shm")  # noqa: S108 - nothing is opened there whose name somebody could foresee
    return memory if memory.is_dir() and shutil.disk_usage(memory).free >= _ROOM else None


def unmount(at: Path) -> None:
    """Unmount whatever is mounted there; nothing is fine too.

    Raises:
        StoreDied: it is still in use after some seconds.
    """
    deadline = time.monotonic() + GONE_SECONDS
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
            raise StoreDied(f"the volume at {at} is still in use {GONE_SECONDS:g} s after its store ended")
        time.sleep(_LOOK_SECONDS)


def let_go(at: Path) -> None:
    """Unmount whatever is mounted there, now for all who look and later for those who use it still; nothing is fine too."""
    if _libc.umount2(os.fsencode(at), _DETACH) and ctypes.get_errno() == errno.EPERM and _mounted(at):
        subprocess.run(["fusermount3", "-u", "-q", "-z", "--", str(at)], capture_output=True, check=False)


def write_out(at: Path) -> None:
    """Have the kernel write out what it holds of the file system mounted there."""
    directory = os.open(at, os.O_RDONLY)
    try:
        if _libc.syncfs(directory):
            raise OSError(ctypes.get_errno(), "the volume could not be synced")
    finally:
        os.close(directory)


def _mounted(at: Path) -> bool:
    """As the kernel lists it: a file system whose process has ended answers no other question."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return str(at) in (re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ", 5)[4]) for line in lines)


def _run(*command: str) -> str:
    program = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if program is None:
        raise NotAvailable(f"a power cut needs the program {command[0]}", "apt-get install mount e2fsprogs")
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotAvailable(f"a power cut needs a file system on a loop device, which cannot be had: {done.stderr.strip()}")
    return done.stdout.strip()
