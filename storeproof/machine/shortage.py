"""Detects which resource the machine lacks, from evidence, so that a server is not blamed for a full disk.

A server's message alone is not evidence, since it may say anything; nor is little free space alone, since it may be enough.
"""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from storeproof.errors import DISK_FULL, NO_MEMORY, TOO_MANY_FILES

_MIB: Final = 2**20
_FULL: Final = _MIB
"""Bytes: with less free space, the disk counts as full even without a message of the server."""
_LITTLE: Final = 1024 * _MIB
"""Bytes: with less free space, a server that reports a full disk is believed. It may since have removed what it had written."""
_LITTLE_MEMORY: Final = 256 * _MIB
"""Bytes: with less memory available, a server that reports too little is believed."""
_FEW: Final = 1024
"""Descriptors or processes: with a lower limit, a server that reports too few is believed."""

# These match vaguer messages than `storeproof.errors` does, because they count only together with evidence from the machine.
_NO_ROOM: Final = re.compile(
    rf"{DISK_FULL}|no space left|quota exceeded|insufficient (free|disk) space|ENOSPC|\berr(or|no):? 28\b", re.IGNORECASE
)
_NO_FILES: Final = re.compile(rf"{TOO_MANY_FILES}|file descriptors|EMFILE|\berr(or|no):? 24\b", re.IGNORECASE)
_NO_MEMORY: Final = re.compile(rf"{NO_MEMORY}|out of memory|memory allocation|bad_alloc|ENOMEM|\berr(or|no):? 12\b", re.IGNORECASE)
_NO_PROCESSES: Final = re.compile(
    r"resource temporarily unavailable|start new thread|could not fork|cannot fork|pthread_create", re.IGNORECASE
)

_PATH_TOO_LONG: Final = re.compile(r"path.{0,200} (is )?too long", re.IGNORECASE)
_LONG_PATH: Final = 80
"""Bytes of a directory's path: a socket's whole path may have 107 (sun_path in unix(7)), including the socket's name."""

_SHORTER_PATH: Final = "name a directory with a shorter path with --data-dir"
_MAKE_ROOM: Final = "make room there, or name another directory with --data-dir"
_MORE_FILES: Final = "ulimit -n 65536"
_MORE_MEMORY: Final = "give the machine, or the control group of this process, more memory"
_MORE_PROCESSES: Final = "ulimit -u unlimited, or raise pids.max of the control group of this process"


@dataclass(frozen=True)
class Shortage:
    """The resource that the machine lacks, for messages, and the remedy."""

    what: str
    remedy: str


class ShortageWatch:
    """Watches the machine's resources from one start of a server on."""

    def __init__(self, places: Sequence[Path], *, data: bool = True, inherits: bool = True) -> None:
        """
        Args:
            places: the directories that the server writes to, or that contain the image files of its file systems.
            data: whether its data is in one of them; if not, a full disk that it reports may be another one.
            inherits: whether this process's resource limits apply to the server.
        """
        self._places = places
        self._data = data
        self._inherits = inherits
        self._least: dict[Path, int] = {}
        self._oom_kills = oom_kills()
        self._refused = _processes_refused()
        self.sample()

    def sample(self) -> None:
        """Record the free space now: a command that fails may remove what it has written."""
        for place in self._places:
            with suppress(OSError):
                self._least[place] = min(self._least.get(place, _free(place)), _free(place))

    def find(self, said: str, pids: Iterable[int] = ()) -> Shortage | None:
        """The resource that the machine lacks; None without evidence.

        Args:
            said: the server's output since its start.
            pids: its running processes.
        """
        self.sample()
        return self._disk(said) or self._descriptors(said, pids) or self._memory(said) or self._processes(said) or self._path(said)

    def _disk(self, said: str) -> Shortage | None:
        for place, least in self._least.items():
            if least < _FULL:
                return Shortage(f"{place} is full", _MAKE_ROOM)
            if self._data and least < _LITTLE and _NO_ROOM.search(said):
                return Shortage(f"{place} had only {least // _MIB} MiB free, and the server reported it full", _MAKE_ROOM)
        return None

    def _descriptors(self, said: str, pids: Iterable[int]) -> Shortage | None:
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        for pid, who in [(os.getpid(), "storeproof"), *((pid, "the server") for pid in pids)]:
            if _files_used_up(pid):
                return Shortage(f"{who} (pid {pid}) has reached its limit of open files", _MORE_FILES)
        if self._inherits and 0 <= limit < _FEW and _NO_FILES.search(said):
            return Shortage(f"the server reports too many open files, and its limit is {limit}", _MORE_FILES)
        return None

    def _memory(self, said: str) -> Shortage | None:
        if self.oom_killed():
            return Shortage("the kernel's out-of-memory killer has ended a process meanwhile", _MORE_MEMORY)
        if not _NO_MEMORY.search(said):
            return None
        for name in ("AS", "DATA"):
            limit, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
            if self._inherits and limit != resource.RLIM_INFINITY:
                return Shortage(
                    f"a process may take no more than {limit // _MIB} MiB of memory, and the server needs more", "ulimit -v unlimited"
                )
        free = psutil.virtual_memory().available
        if free < _LITTLE_MEMORY:
            return Shortage(f"{free // _MIB} MiB of memory are free, and the server needs more", _MORE_MEMORY)
        return None

    def _path(self, said: str) -> Shortage | None:
        for place in self._places:
            if len(os.fsencode(place)) > _LONG_PATH and _PATH_TOO_LONG.search(said):
                return Shortage(f"the path {place} is too long for the server's socket, which the kernel allows 107 bytes", _SHORTER_PATH)
        return None

    def oom_killed(self) -> bool:
        """Whether the out-of-memory killer has ended a process since the watch began."""
        return oom_kills() > self._oom_kills

    def _processes(self, said: str) -> Shortage | None:
        if _processes_refused() > self._refused:
            return Shortage("the kernel has refused a new process: the limit of processes is reached", _MORE_PROCESSES)
        limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        if self._inherits and 0 <= limit < _FEW and _NO_PROCESSES.search(said):
            return Shortage(f"a user may have no more than {limit} processes, and the server needs more", _MORE_PROCESSES)
        return None


def shortage_of(reason: OSError) -> Shortage | None:
    """The resource whose lack made a system call of storeproof fail; None for other errors."""
    what = {
        errno.ENOSPC: _MAKE_ROOM,
        errno.EDQUOT: _MAKE_ROOM,
        errno.EMFILE: _MORE_FILES,
        errno.ENFILE: _MORE_FILES,
        errno.ENOMEM: _MORE_MEMORY,
        errno.EAGAIN: _MORE_PROCESSES,
    }
    number = reason.errno or 0
    where = f"{reason.filename}: " if reason.filename is not None else ""
    return Shortage(f"{where}{os.strerror(number)}", what[number]) if number in what else None


def oom_kills() -> int:
    """Number of processes that the out-of-memory killer has ended: in our control group if that counts them, else on the machine."""
    for file in (*_group_files("memory", "memory.events"), *_group_files("memory", "memory.oom_control"), Path("/proc/vmstat")):
        number = _value(file, "oom_kill")
        if number is not None:
            return number
    return 0


def _processes_refused() -> int:
    return next((number for file in _group_files("pids", "pids.events") if (number := _value(file, "max")) is not None), 0)


def _group_files(controller: str, name: str) -> list[Path]:
    """The paths that a file of our control group may have, for cgroup versions 1 and 2."""
    files = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                files.append(Path("/sys/fs/cgroup", controller, path.lstrip("/"), name))
            elif not controllers:
                files.append(Path("/sys/fs/cgroup", path.lstrip("/"), name))
    return files


def _value(file: Path, name: str) -> int | None:
    with suppress(OSError, ValueError):
        for line in file.read_text(encoding="ascii").splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == name:
                return int(words[1])
    return None


def _free(place: Path) -> int:
    """Bytes that this user can write there; 0 if the file system has no free inode."""
    found = os.statvfs(place)
    return 0 if found.f_files and not found.f_favail else found.f_bavail * found.f_frsize


def _files_used_up(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        limit, _ = process.rlimit(psutil.RLIMIT_NOFILE)
        return 0 <= limit <= process.num_fds() + 1
    except psutil.Error:  # it has ended, or may not be inspected
        return False
    except OSError as reason:
        return reason.errno in (errno.EMFILE, errno.ENFILE)
