"""Measures what a server uses of the machine: CPU time, bytes written and syncs during a round; memory and disk at one moment.

The counters are read just before and just after each measured round, so reading them must be cheap: some system calls per process.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.machine.mounts import mount_of
from storeproof.machine.process_tree import process_file, read_stat
from storeproof.machine.sync_counter import SyncCounter, sync_counter
from storeproof.units import size

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_BLOCK: Final = 512
"""Bytes of a block in st_blocks, whatever the block size of the file system: stat(2)."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_LARGE: Final = 2**20
"""Bytes written at once: enough for large folios in the page cache, if the file system uses them."""
_IN_MEMORY: Final = ("tmpfs", "ramfs")
_NOT_OURS: Final = "the kernel shows it to the server's user and to root alone"


@dataclass(frozen=True)
class Usage:
    """What a server used between `begin` and `end`. None: unknown, for the reason in `UsageMeter.unknown`."""

    cpu_seconds: float
    """User and kernel time of all its processes, including those that have ended."""
    written_bytes: int | None
    """Bytes that the kernel attributes to its writes: whole dirty pages, also if they are dropped before they reach the device, and direct
    writes. What the file system writes by itself, such as its journal, is not included."""
    syncs: int | None


@dataclass(frozen=True)
class Footprint:
    """What a server occupies at one moment. None: unknown, for the reason in `UsageMeter.unknown`."""

    resident_bytes: int | None
    """Resident memory of all its processes; shared pages are counted once (PSS)."""
    disk_bytes: int | None
    """Blocks that are allocated to the files in its data directory, including logs and preallocated space."""


class UsageMeter:
    """Measures the usage of one start of a server: the processes that it has at construction, and all their descendants."""

    def __init__(self, pids: Iterable[int], data: Path | None) -> None:
        """
        Args:
            pids: the server's processes.
            data: its data directory; None if it cannot be reached from here.

        Raises:
            NotAvailable: its processes cannot be seen.
        """
        self._roots = {pid: stat.start for pid in pids if (stat := read_stat(pid)) is not None}
        self._data = data
        self._syncs: SyncCounter | None = None
        self.unknown: dict[str, str] = {}
        """The reason why a figure is unknown, by its name in `Usage` or `Footprint`."""
        if not self._roots:
            raise NotAvailable("its processes cannot be seen from here")
        if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
            raise NotAvailable("the kernel does not list the children of a process (CONFIG_PROC_CHILDREN)")
        self._look_at_disk()
        self._before = self._counters()
        self.footprint()

    def _look_at_disk(self) -> None:
        """Find out which figures of the disk can be measured."""
        if self._data is None:
            self.unknown |= dict.fromkeys(("syncs", "disk_bytes"), "its data directory cannot be reached from here")
            return
        kind = mount_of(self._data).filesystem
        if kind in _IN_MEMORY:
            self.unknown |= dict.fromkeys(("written_bytes", "syncs"), f"its data lies in memory ({kind})")
            return
        if reason := _miscounted(self._data):
            self.unknown["written_bytes"] = reason
        try:
            self._syncs = sync_counter(self._data)
        except NotAvailable as reason:
            self.unknown["syncs"] = str(reason)

    def begin(self) -> None:
        self._before = self._counters()
        if self._syncs is not None:
            self._syncs.begin()

    def end(self) -> Usage:
        """The usage since `begin`. A negative CPU time means that a process ended whose CPU time is lost."""
        pids = set(self._processes())
        syncs = self._syncs.end(pids) if self._syncs is not None else None
        if self._syncs is not None and syncs is None:
            self.unknown["syncs"] = "there were more than the kernel keeps a list of"
        cpu, written = self._counters()
        unknown = "written_bytes" in self.unknown
        return Usage(cpu - self._before[0], None if unknown else written - self._before[1], syncs)

    def _counters(self) -> tuple[float, int]:
        """CPU time in seconds, and bytes written, since the server's start."""
        cpu, written = 0.0, 0
        for pid in self._processes():
            cpu += _cpu_seconds(pid)
            if "written_bytes" not in self.unknown:
                try:
                    written += _written_bytes(pid)
                except PermissionError:
                    self.unknown["written_bytes"] = _NOT_OURS
        return cpu, written

    def footprint(self) -> Footprint:
        """Memory and disk. Slower than `end`: up to some hundred milliseconds."""
        resident = 0
        try:
            resident = sum(map(_resident_bytes, self._processes()))
        except PermissionError:
            self.unknown["resident_bytes"] = _NOT_OURS
        disk = None
        if self._data is not None:
            try:
                disk = allocated_bytes(self._data)
            except PermissionError:
                self.unknown["disk_bytes"] = _NOT_OURS
        return Footprint(None if "resident_bytes" in self.unknown else resident, disk)

    def _processes(self) -> Iterator[int]:
        """The processes given at construction, if they still run, and all their descendants. Not found by scanning all processes, which
        takes tens of milliseconds on a large machine."""
        waiting = [pid for pid, start in self._roots.items() if (stat := read_stat(pid)) is not None and stat.start == start]
        found = set[int]()
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                yield pid
                waiting += _children(pid)


def allocated_bytes(folder: Path) -> int:
    """Bytes of the blocks that are allocated to a directory and its contents; a file with several hard links counts once."""
    seen = set[tuple[int, int]]()
    total, waiting = 0, [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                        stat = entry.stat(follow_symlinks=False)
                        if (stat.st_dev, stat.st_ino) not in seen:
                            seen.add((stat.st_dev, stat.st_ino))
                            total += stat.st_blocks * _BLOCK
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except FileNotFoundError:
            continue
    return total


def _children(pid: int) -> list[int]:
    """The children of the main thread, in which servers fork: to read those of all threads would take too long. A child that another
    thread forked is counted when it has ended."""
    return [int(each) for each in process_file(pid, f"task/{pid}/children").split()]


def _cpu_seconds(pid: int) -> float:
    """CPU time of a process and of its children that have ended; the former in nanosecond, the latter in clock tick resolution."""
    try:
        # The clock id that clock_getcpuclockid(3) returns, which Python does not offer. It includes threads that have ended.
        own = time.clock_gettime((~pid << 3) | 2)
    except OSError:  # it has ended
        return 0.0
    line = process_file(pid, "stat")
    ended = line[line.rindex(")") + 2 :].split()[13:15] if line else []
    return own + sum(map(int, ended)) / _TICKS


def _miscounted(folder: Path) -> str:
    """Why the kernel's count of written bytes is wrong in a directory; empty if it is right.

    When a folio of the page cache becomes dirty, the kernel counts the whole folio, although only its changed blocks are written. That is
    right if folios are single pages. With large folios (`ext4` since Linux 6.16) it counts 256 KiB for the 8 KiB that PostgreSQL writes
    with each commit.
    """
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(_LARGE))
            os.fsync(file.fileno())
            before = _written_bytes("thread-self")
            os.pwrite(file.fileno(), bytes(_PAGE), _LARGE // 2)
            os.fsync(file.fileno())
            counted = _written_bytes("thread-self") - before
    except OSError as reason:
        return f"the kernel's count of written bytes could not be tested: {reason.strerror}"
    return "" if counted == _PAGE else f"the kernel counts {size(counted)} where {size(_PAGE)} are written"


def _written_bytes(pid: int | str) -> int:
    """Bytes written by a process and its children that have ended. Raises `PermissionError`."""
    for line in process_file(pid, "io").splitlines():
        name, _, value = line.partition(": ")
        if name == "write_bytes":
            return int(value)
    return 0


def _resident_bytes(pid: int) -> int:
    """Proportional set size (PSS) of a process. Raises `PermissionError`."""
    for line in process_file(pid, "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
