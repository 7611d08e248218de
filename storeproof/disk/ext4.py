"""A file system for a store's data that loses everything that was not synced when its power is cut.

It is ext4 on a loop device over a sparse file. To cut the power, the kernel is told to shut the file system down without flushing its
journal: the file then contains only what the kernel reported as synced. Killing processes cannot test this, since the kernel's page cache
outlives them.
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
"""Size of the file system; the file beneath it is sparse."""
_ROOM: Final = 2 * 2**30
"""Bytes that must be free in memory for the image file to be placed there."""
_SHUTDOWN: Final = 0x8004587D
"""EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32): fs/ext4/ext4.h."""
_WITHOUT_LOG: Final = struct.pack("I", 2)
"""EXT4_GOING_FLAGS_NOLOGFLUSH."""
_OPTIONS: Final = "commit=600,noinit_itable"
"""Seconds between the file system's own commits: it must not sync on the store's behalf. Nor may it write for itself, since what is written
is counted: by default it fills its inode tables with zeros in the background."""
_NOSUID_NODEV: Final = 2 | 4
_FORCE: Final = 1
"""MNT_FORCE."""
_DETACH: Final = 2
"""MNT_DETACH."""
_MOMENT_SECONDS: Final = 0.25
"""How long to wait for a process that has just ended, or a container that is starting, to release a mount: cheaper than a copy."""
_QUIET_SECONDS: Final = 30.0
"""How long writes that were in flight at the cut may take to finish."""
_LOOK_SECONDS: Final = 0.005
_MAKE_SECONDS: Final = 60.0

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - only unpredictable names are opened there
"""A file system in memory, if the machine has one."""

_libc = ctypes.CDLL(None, use_errno=True)


class Ext4Disk:
    """One mounted ext4 file system: see `Disk`."""

    method = "ext4 on a loop device"

    def __init__(self, at: Path, image: Path) -> None:
        """Make and mount it.

        Args:
            at: an empty directory to mount it on; `unmount` unmounts it, in this process or a later one.
            image: the path of its image file, which must not exist yet.

        Raises:
            NotAvailable: this machine or this user cannot make or mount one.
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
        self._written = 0
        """Bytes written until the last cut."""
        self._mounted_at: int | None = None
        """What its device had received when it was last mounted; None after a cut."""
        try:
            self._loop = attach(image)
            make_file_system(self._loop.path, "a power cut")
            self._mount(self._loop)
        except OSError as reason:
            self.close()
            raise NotAvailable(f"a power cut needs a separate file system for the data, which cannot be created: {reason}") from None
        except BaseException:
            self.close()
            raise
        (at / "lost+found").rmdir()  # servers expect an empty directory
        self.sync()  # else lost+found would be back after the first cut

    def written(self) -> int:
        return self._written + (0 if self._mounted_at is None else self._open_loop().written() - self._mounted_at)

    def sync(self) -> None:
        write_out(self._at)

    def cut(self) -> None:
        """From now on nothing reaches the image file."""
        directory = os.open(self._at, os.O_RDONLY)
        try:
            fcntl.ioctl(directory, _SHUTDOWN, _WITHOUT_LOG)
        finally:
            os.close(directory)
        self._written, self._mounted_at = self.written(), None

    def remount(self) -> None:
        """Mounts the contents of the image file.

        Another process may hold a copy of the old mount, since a new mount namespace begins with copies of all mounts. A mount of the same
        device would then give access to the file system that was shut down. So a copy of the image file is mounted instead, once no write
        to it is in flight.

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
        """The contents are dropped when the image file is removed."""
        unmount(self._at)
        if self._loop is not None:
            self._loop.release()
            self._loop = None

    def _copy_to_new_device(self, old: Loop) -> Loop:
        """Copy the image file and attach the copy to a new device; the kernel detaches the old device when its last user ends."""
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
        mount(loop.path, self._at, _OPTIONS)
        self._mounted_at = loop.written()

    def _open_loop(self) -> Loop:
        if self._loop is None:
            raise RuntimeError(f"the volume at {self._at} was closed")
        return self._loop


def memory_base() -> Path | None:
    """The best directory for image files: in memory, if there is room; else None."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= _ROOM else None


def mount(device: str, at: Path, options: str = "") -> None:
    """Mount the ext4 file system of a device on a directory. Raises `OSError`."""
    if _libc.mount(device.encode(), os.fsencode(at), b"ext4", _NOSUID_NODEV, options.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), device)


def unmount(at: Path) -> None:
    """Unmount the file system at a directory, lazily if it is still busy after a moment; do nothing if there is none.

    After a lazy unmount, processes with open files keep the file system alive, but others cannot see it.

    Raises:
        MachineFailed: this user may not unmount it.
    """
    deadline = time.monotonic() + _MOMENT_SECONDS
    while True:
        if _libc.umount2(os.fsencode(at), 0) == 0:
            continue
        reason = ctypes.get_errno()
        if reason == errno.EPERM and _is_mounted(at):  # not root: fusermount3 is setuid, and unmounts what this user has mounted
            if subprocess.run(["fusermount3", "-u", "-q", "--", str(at)], capture_output=True, check=False).returncode == 0:
                continue
        elif reason != errno.EBUSY:  # not a mount point, or no such directory
            return
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_SECONDS)
    unmount_lazily(at)
    if _is_mounted(at):
        raise MachineFailed(f"the volume at {at} could not be unmounted: {os.strerror(reason)}", f"umount -l {at}")


def unmount_lazily(at: Path) -> None:
    """Detach the file system at a directory now; it is unmounted when its last user ends. Do nothing if there is none."""
    if _libc.umount2(os.fsencode(at), _DETACH) and ctypes.get_errno() == errno.EPERM and _is_mounted(at):
        subprocess.run(["fusermount3", "-u", "-q", "-z", "--", str(at)], capture_output=True, check=False)


def abort(at: Path) -> None:
    """Abort the FUSE connection of the file system at a directory, as far as this user may. That also ends copies of the mount in other
    mount namespaces."""
    for line in _mount_table(at):
        with suppress(OSError):
            Path(f"/sys/fs/fuse/connections/{line.split(' ')[2].partition(':')[2]}/abort").write_text("1", encoding="ascii")
    _libc.umount2(os.fsencode(at), _FORCE)


def write_out(at: Path) -> None:
    """Write the dirty pages of the file system at a directory to disk: syncfs(2). Raises `OSError`."""
    directory = os.open(at, os.O_RDONLY)
    try:
        if _libc.syncfs(directory):
            raise OSError(ctypes.get_errno(), "the volume could not be synced")
    finally:
        os.close(directory)


def _is_mounted(at: Path) -> bool:
    return bool(_mount_table(at))


def _mount_table(at: Path) -> list[str]:
    """The lines of /proc/self/mountinfo for what is mounted at a directory; stat(2) would fail on a FUSE file system whose process has
    ended, and psutil does not report the device numbers by which FUSE connections are found."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [line for line in lines if str(at) == re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ", 5)[4])]


def make_file_system(device: str, what: str) -> None:
    """Make an ext4 file system on a device; `what` needs it, for the message. Raises `NotAvailable`."""
    program = shutil.which("mkfs.ext4", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if program is None:
        raise NotAvailable(f"{what} needs the program mkfs.ext4", "apt-get install e2fsprogs")
    command = (program, "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", device)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MAKE_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"{what} needs a file system on a loop device, and mkfs.ext4 did not end in {_MAKE_SECONDS:g} s") from None
    if done.returncode:
        raise NotAvailable(f"{what} needs a file system on a loop device, and mkfs.ext4 failed: {done.stderr.strip()}")
