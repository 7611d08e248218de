"""Counts the syncs of processes: fsync, fdatasync, msync, and writes to files that are opened with O_SYNC or O_DSYNC.

At a tracepoint of the file system the kernel records each sync with its process id, in a ring buffer per core (perf_event_open(2)). So
other programs on the same disk are not counted. The usual source, flush requests of the block device, includes all programs, and several
syncs may share one flush. Counters per process would need no buffer, but slow down every context switch: stores lost about 5 % of their
rate.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import struct
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.machine.cores import read_cores
from storeproof.machine.mounts import mount_of

_POINTS: Final = {
    "ext2": "ext4/ext4_sync_file_enter",
    "ext3": "ext4/ext4_sync_file_enter",
    "ext4": "ext4/ext4_sync_file_enter",
    "xfs": "xfs/xfs_file_fsync",
    "btrfs": "btrfs/btrfs_sync_file",
}
"""The tracepoint at the beginning of a sync, by file system. The ext4 driver also serves ext2 and ext3."""
_OPEN: Final = {"x86_64": 298, "aarch64": 241}
"""Number of the system call perf_event_open, by architecture. The three below have the same number on all (since Linux 5.2)."""
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
_CLOEXEC: Final = 1
_CREATE: Final = 6
"""FSCONFIG_CMD_CREATE: include/uapi/linux/mount.h."""
_ATTRIBUTES: Final = struct.Struct("=IIQQQQQ80x")
"""struct perf_event_attr (include/uapi/linux/perf_event.h, like all that follows): type, size, config, sample_period, sample_type,
read_format, flags; the rest is zero."""
_TRACEPOINT: Final = 2
_WITH_PROCESS: Final = 2
_DISABLED, _FORKS = 1, 1 << 13
_FD_CLOEXEC: Final = 8
_ENABLE, _DISABLE = 0x2400, 0x2401
_ENDS: Final = struct.Struct("=QQQQ")
"""The fields data_head, data_tail, data_offset and data_size of struct perf_event_mmap_page, at offset `_AT`."""
_AT: Final = 1024
_PAGES: Final = 256
"""Pages of the ring buffer of one core: room for 65,000 syncs in a round. If there are more, their number is unknown."""
_HEADER: Final = struct.Struct("=IHH")
_PAIR: Final = struct.Struct("=II")
_FORK, _SAMPLE = 7, 9
_ROOM: Final = 64
"""Bytes, more than any record. With less space left in a buffer, the kernel may have dropped one, and reports that with the next."""


class SyncCounter:
    """Counts the syncs of all processes of the machine between `begin` and `end`. There is one counter for each tracepoint, for the life of
    this process: only one store is measured at a time."""

    def __init__(self, point: str) -> None:
        """`point`: the tracepoint. Raises `OSError`."""
        number, call = _number(point), _OPEN[platform.machine()]
        attributes = _ATTRIBUTES.pack(_TRACEPOINT, _ATTRIBUTES.size, number, 1, _WITH_PROCESS, 0, _DISABLED | _FORKS)
        self._lists: list[tuple[int, mmap.mmap]] = []
        try:
            for core in _online():
                held = _call(call, attributes, -1, core, -1, _FD_CLOEXEC)
                try:
                    self._lists.append((held, mmap.mmap(held, (1 + _PAGES) * mmap.PAGESIZE)))
                except OSError:
                    os.close(held)
                    raise
        except OSError:
            self.close()
            raise

    def begin(self) -> None:
        """Start counting, from zero."""
        for held, noted in self._lists:
            head, _, begins, size = _ENDS.unpack_from(noted, _AT)
            _ENDS.pack_into(noted, _AT, head, head, begins, size)
            fcntl.ioctl(held, _ENABLE, 0)

    def end(self, pids: Collection[int]) -> int | None:
        """Stop counting; return the syncs of these processes and of those they have started since `begin`. None: too many to record."""
        for held, _ in self._lists:
            fcntl.ioctl(held, _DISABLE, 0)
        syncs = Counter[int]()
        parents: dict[int, int] = {}
        for _, noted in self._lists:
            if _read(noted, syncs, parents):
                return None
        found = set(pids)
        while fresh := {child for child, parent in parents.items() if parent in found} - found:
            found |= fresh
        return sum(syncs[pid] for pid in found)

    def close(self) -> None:
        """Release the counters; may be called twice."""
        for held, noted in self._lists:
            noted.close()
            os.close(held)
        self._lists.clear()


_counters: dict[str, SyncCounter] = {}
"""The counters, by tracepoint."""


def sync_counter(folder: Path) -> SyncCounter:
    """The counter for a directory's file system. First a temporary file is synced there, to check that this is counted.
    Raises `NotAvailable`: syncs cannot be counted here; with the reason."""
    filesystem = mount_of(folder).filesystem
    point = _POINTS.get(filesystem)
    if point is None:
        raise NotAvailable(f"the kernel does not count the syncs of a file system of the kind {filesystem}")
    if platform.machine() not in _OPEN:
        raise NotAvailable(f"syncs are not counted on {platform.machine()}")
    try:
        counter = _counters[point] if point in _counters else _counters.setdefault(point, SyncCounter(point))
        counter.begin()
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            for sync in (os.fsync, os.fdatasync):
                file.write(b"x")
                sync(file.fileno())
        counted = counter.end([os.getpid()])
    except OSError as reason:
        raise NotAvailable(f"this user may not count the syncs of a process: {reason.strerror}") from None
    if counted != 2:
        raise NotAvailable(f"of two syncs of our own the kernel counted {counted}")
    return counter


def _read(noted: mmap.mmap, syncs: Counter[int], parents: dict[int, int]) -> bool:
    """Add the records of one core's buffer; return whether some may be missing. Call it while the counter is stopped."""
    head, tail, begins, size = _ENDS.unpack_from(noted, _AT)
    first, length = begins + tail % size, head - tail
    whole = min(length, begins + size - first)  # a record may wrap around to the beginning of the buffer
    text = noted[first : first + whole] + noted[begins : begins + length - whole]
    at = 0
    while at < len(text):
        kind, _, length = _HEADER.unpack_from(text, at)
        body = at + _HEADER.size
        if kind == _SAMPLE:
            syncs[_PAIR.unpack_from(text, body)[0]] += 1
        elif kind == _FORK:
            child, parent = _PAIR.unpack_from(text, body)
            if child != parent:  # else it is a new thread
                parents[child] = parent
        at += length
    return bool(size - (head - tail) < _ROOM)


def _online() -> list[int]:
    return read_cores(Path("/sys/devices/system/cpu/online").read_text(encoding="ascii"))


def _number(point: str) -> int:
    """The id of a tracepoint, read from a tracefs that is not attached to any directory. Raises `OSError`."""
    made = _call(_FSOPEN, b"tracefs", _CLOEXEC)
    try:
        _call(_FSCONFIG, made, _CREATE, None, None, 0)
        root = _call(_FSMOUNT, made, _CLOEXEC, 0)
    finally:
        os.close(made)
    try:
        held = os.open(f"events/{point}/id", os.O_RDONLY | os.O_CLOEXEC, dir_fd=root)
    finally:
        os.close(root)
    with os.fdopen(held, "rb") as file:
        return int(file.read())


def _call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call that Python has no function for. Raises `OSError`."""
    library = ctypes.CDLL(None, use_errno=True)
    found = int(library.syscall(ctypes.c_long(number), *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found
