"""Counts the syncs of processes: fsync, fdatasync, msync, and writes to files that are opened with O_SYNC or O_DSYNC.

At a tracepoint of the file system the kernel records each sync with its process id (`machine/tracepoints.py`). So other programs on the
same disk are not counted. The usual source, flush requests of the block device, includes all programs, and several syncs may share one
flush. Counters per process would need no buffer, but slow down every context switch: stores lost about 5 % of their rate.
"""

from __future__ import annotations

import os
import platform
import struct
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.machine.mounts import mount_of
from storeproof.machine.tracepoints import FORKS, SUPPORTED, WITH_PROCESS, Ring, cores, id_of

_POINTS: Final = {
    "ext2": "ext4/ext4_sync_file_enter",
    "ext3": "ext4/ext4_sync_file_enter",
    "ext4": "ext4/ext4_sync_file_enter",
    "xfs": "xfs/xfs_file_fsync",
    "btrfs": "btrfs/btrfs_sync_file",
}
"""The tracepoint at the beginning of a sync, by file system. The ext4 driver also serves ext2 and ext3."""
_PAGES: Final = 256
"""Pages of the ring buffer of one core: room for 65,000 syncs in a round. If there are more, their number is unknown."""
_HEADER: Final = struct.Struct("=IHH")
_PAIR: Final = struct.Struct("=II")
_FORK, _SAMPLE = 7, 9


class SyncCounter:
    """Counts the syncs of all processes of the machine between `begin` and `end`. There is one counter for each tracepoint, for the life of
    this process: only one store is measured at a time."""

    def __init__(self, point: str) -> None:
        """`point`: the tracepoint. Raises `OSError`."""
        number = id_of(point)
        self._rings = [Ring(core, _PAGES) for core in cores()]
        try:
            for ring in self._rings:
                ring.record(number, WITH_PROCESS, FORKS)
        except OSError:
            self.close()
            raise

    def begin(self) -> None:
        """Start counting, from zero."""
        for ring in self._rings:
            ring.take()
            ring.enable()

    def end(self, pids: Collection[int]) -> int | None:
        """Stop counting; return the syncs of these processes and of those they have started since `begin`. None: too many to record."""
        for ring in self._rings:
            ring.disable()
        syncs = Counter[int]()
        parents: dict[int, int] = {}
        for ring in self._rings:
            text, full = ring.take()
            if full:
                return None
            _read(text, syncs, parents)
        found = set(pids)
        while fresh := {child for child, parent in parents.items() if parent in found} - found:
            found |= fresh
        return sum(syncs[pid] for pid in found)

    def close(self) -> None:
        """Release the counters; may be called twice."""
        for ring in self._rings:
            ring.close()


_counters: dict[str, SyncCounter] = {}
"""The counters, by tracepoint."""


def sync_counter(folder: Path) -> SyncCounter:
    """The counter for a directory's file system. First a temporary file is synced there, to check that this is counted.
    Raises `NotAvailable`: syncs cannot be counted here; with the reason."""
    filesystem = mount_of(folder).filesystem
    point = _POINTS.get(filesystem)
    if point is None:
        raise NotAvailable(f"the kernel does not count the syncs of a file system of the kind {filesystem}")
    if platform.machine() not in SUPPORTED:
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


def _read(text: bytes, syncs: Counter[int], parents: dict[int, int]) -> None:
    """Add the records of one core."""
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
