"""What a server uses of the machine: processor time, bytes written and syncs as counters, memory and disk as they are.

The counters are read just before and just after each measured round, so they must cost little: some system calls for each process.
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
from storeproof.machine.process_tree import read_stat
from storeproof.machine.sync_counter import SyncCounter, sync_counter
from storeproof.units import size

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_BLOCK: Final = 512
"""Bytes of a block in st_blocks, whatever the file system's own are: stat(2)."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_LARGE: Final = 2**20
"""Bytes that are written at once, to which a file system with large parts in its page cache gives large ones."""
_IN_MEMORY: Final = ("tmpfs", "ramfs")
_NOT_OURS: Final = "the kernel shows it to the server's user and to root alone"


@dataclass(frozen=True)
class Usage:
    """In some time. None: see `UsageMeter.unknown`."""

    cpu_seconds: float
    """Of all its processes, in user mode and in the kernel, those that have ended included."""
    written_bytes: int | None
    """Handed to the block device for it: whole pages, direct writes, and what was dropped again before it got there. Not what the file
    system writes by itself, such as its journal."""
    syncs: int | None


@dataclass(frozen=True)
class Footprint:
    """At one moment."""

    resident_bytes: int | None
    """Memory of all its processes; what several of them share is counted once (PSS)."""
    disk_bytes: int | None
    """Blocks that are allocated to the files in its data directory: logs and what was set aside for later included."""


class UsageMeter:
    """Of one server, from now until its end: of the processes that it has now, and of all that descend from them."""

    def __init__(self, pids: Iterable[int], data: Path | None) -> None:
        """
        Args:
            data: its data directory; None where it cannot be reached from here.

        Raises:
            NotAvailable: its processes cannot be seen.
        """
        self._roots = {pid: stat.start for pid in pids if (stat := read_stat(pid)) is not None}
        self._data = data
        self._syncs: SyncCounter | None = None
        self.unknown: dict[str, str] = {}
        """By the name of a figure, why it is not known."""
        if not self._roots:
            raise NotAvailable("its processes cannot be seen from here")
        if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
            raise NotAvailable("the kernel does not list the children of a process (CONFIG_PROC_CHILDREN)")
        self._look_at_disk()
        self._before = self._counters()
        self.footprint()

    def _look_at_disk(self) -> None:
        """Find out what of it can be counted."""
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
        """Meter from now on."""
        self._before = self._counters()
        if self._syncs is not None:
            self._syncs.begin()

    def end(self) -> Usage:
        """What it has used since `begin`. Less than no processor time: one of its processes ended, and what it had used is lost."""
        pids = set(self._processes())
        syncs = self._syncs.end(pids) if self._syncs is not None else None
        if self._syncs is not None and syncs is None:
            self.unknown["syncs"] = "there were more than the kernel keeps a list of"
        cpu, written = self._counters()
        unknown = "written_bytes" in self.unknown
        return Usage(cpu - self._before[0], None if unknown else written - self._before[1], syncs)

    def _counters(self) -> tuple[float, int]:
        """Processor time and bytes written, since the server's start."""
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
        """Memory and disk. Takes longer, up to some hundred milliseconds."""
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
        """Its first processes that run, and all that descend from them. Not by a look at every process of the machine, which takes tens
        of milliseconds on a large one."""
        waiting = [pid for pid, start in self._roots.items() if (stat := read_stat(pid)) is not None and stat.start == start]
        found = set[int]()
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                yield pid
                waiting += _children(pid)


def allocated_bytes(folder: Path) -> int:
    """Bytes of the blocks that are allocated to a directory and all that is in it; a file with several names counts once."""
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
    """Of its first thread, as servers fork: to ask all threads would take too long. What a process forks in another thread is counted when
    it has ended."""
    return [int(each) for each in _text(f"/proc/{pid}/task/{pid}/children").split()]


def _cpu_seconds(pid: int) -> float:
    """Its own, to the nanosecond, and that of its children that have ended, in ticks."""
    try:
        # The process's clock as clock_getcpuclockid(3) numbers it, which Python does not offer; it counts ended threads too.
        own = time.clock_gettime((~pid << 3) | 2)
    except OSError:  # it has ended
        return 0.0
    line = _text(f"/proc/{pid}/stat")
    ended = line[line.rindex(")") + 2 :].split()[13:15] if line else []
    return own + sum(map(int, ended)) / _TICKS


def _miscounted(folder: Path) -> str:
    """Why the kernel's count of written bytes is wrong in a directory; empty where it is right.

    It is added to when a part of the page cache becomes dirty, by the whole of that part, of which only the changed blocks are written.
    Where such parts are single pages that is right. File systems with large ones (`ext4` since Linux 6.16) count 256 KiB for the 8 KiB that
    PostgreSQL writes with each commit.
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
        return f"that the kernel counts rightly could not be tried: {reason.strerror}"
    return "" if counted == _PAGE else f"the kernel counts {size(counted)} where {size(_PAGE)} are written"


def _written_bytes(pid: int | str) -> int:
    """Of it and of its children that have ended. Raises PermissionError."""
    for line in _text(f"/proc/{pid}/io").splitlines():
        name, _, value = line.partition(": ")
        if name == "write_bytes":
            return int(value)
    return 0


def _resident_bytes(pid: int) -> int:
    """Raises PermissionError."""
    for line in _text(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(path: str) -> str:
    """A file of /proc; empty where the process has ended. Read without a file object, which takes longer than the system calls."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return ""
    try:
        return b"".join(iter(lambda: os.read(descriptor, 65536), b"")).decode("utf-8", "replace")
    except ProcessLookupError:
        return ""
    finally:
        os.close(descriptor)
