"""Tracepoints of the kernel, and the rings in which it records that one was passed (perf_event_open(2)), one ring per core.

All constants are those of include/uapi/linux/perf_event.h, where no other file is named.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import struct
from pathlib import Path
from typing import Final

from storeproof.machine.cores import read_cores

SUPPORTED: Final = {"x86_64": 298, "aarch64": 241}
"""Number of the system call perf_event_open, by architecture. The three below have the same number on all (since Linux 5.2)."""
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
_CLOEXEC: Final = 1
_CREATE: Final = 6
"""FSCONFIG_CMD_CREATE: include/uapi/linux/mount.h."""
_ATTRIBUTES: Final = struct.Struct("=IIQQQQQ44xi32x")
"""struct perf_event_attr: type, size, config, sample_period, sample_type, read_format, flags, clockid; the rest is zero."""
_TRACEPOINT: Final = 2
WITH_PROCESS, WITH_TIME, WITH_DATA = 1 << 1, 1 << 2, 1 << 10
"""What a record says: process and thread, when, and what the tracepoint itself says."""
FORKS: Final = 1 << 13
"""A flag: new processes and threads are recorded too."""
_DISABLED, _USE_CLOCK = 1, 1 << 25
_MONOTONIC: Final = 1
_FD_CLOEXEC: Final = 8
_ENABLE, _DISABLE, _SET_OUTPUT, _SET_FILTER = 0x2400, 0x2401, 0x2405, 0x40082406
_ENDS: Final = struct.Struct("=QQQQ")
"""The fields data_head, data_tail, data_offset and data_size of struct perf_event_mmap_page, at offset `_AT`."""
_AT: Final = 1024
_TAIL: Final = struct.Struct("=Q")
_ROOM: Final = 128
"""Bytes, more than any record that is asked for. With less space left in a ring, the kernel may have dropped one, and reports that with the
next."""


class Ring:
    """The records of one core. It goes with this process, whatever ends that."""

    def __init__(self, core: int, pages: int) -> None:
        """`pages`: of its memory, a power of two."""
        self._core = core
        self._pages = pages
        self._events: list[int] = []
        self._memory: mmap.mmap | None = None

    def record(self, point: int, what: int, flags: int = 0, condition: str = "") -> None:
        """Record a tracepoint from `enable` on.

        Args:
            point: its id.
            what: `WITH_PROCESS` and so on.
            flags: `FORKS`, or none.
            condition: of its fields, such as `dev == 7`: others are not recorded.

        Raises:
            OSError: the kernel refuses.
        """
        given = (_TRACEPOINT, _ATTRIBUTES.size, point, 1, what, 0, _DISABLED | _USE_CLOCK | flags, _MONOTONIC)
        event = call(SUPPORTED[platform.machine()], _ATTRIBUTES.pack(*given), -1, self._core, -1, _FD_CLOEXEC)
        self._events.append(event)
        if condition:
            fcntl.ioctl(event, _SET_FILTER, condition.encode() + b"\0")
        if self._memory is None:
            self._memory = mmap.mmap(event, (1 + self._pages) * mmap.PAGESIZE)
        else:
            fcntl.ioctl(event, _SET_OUTPUT, self._events[0])

    def enable(self) -> None:
        for event in self._events:
            fcntl.ioctl(event, _ENABLE, 0)

    def disable(self) -> None:
        for event in self._events:
            fcntl.ioctl(event, _DISABLE, 0)

    def take(self) -> tuple[bytes, bool]:
        """The records since the last time, whole ones; and whether later ones may have found no room. Their memory is free again."""
        assert self._memory is not None
        head, tail, begins, size = _ENDS.unpack_from(self._memory, _AT)
        first, length = begins + tail % size, head - tail
        whole = min(length, begins + size - first)  # a record may wrap around to the beginning
        text = self._memory[first : first + whole] + self._memory[begins : begins + length - whole]
        _TAIL.pack_into(self._memory, _AT + _TAIL.size, head)
        return text, size - length < _ROOM

    def close(self) -> None:
        """May be called twice."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        for event in self._events:
            os.close(event)
        self._events.clear()


def cores() -> list[int]:
    """Those that run."""
    return read_cores(Path("/sys/devices/system/cpu/online").read_text(encoding="ascii"))


def id_of(point: str) -> int:
    """The id of a tracepoint, such as `ext4/ext4_sync_file_enter`. Raises `OSError`."""
    return int(_file(point, "id"))


def format_of(point: str) -> str:
    """Its id and the places of its fields. Raises `OSError`."""
    return _file(point, "format")


def _file(point: str, name: str) -> str:
    """Read from a tracefs that is not attached to any directory."""
    made = call(_FSOPEN, b"tracefs", _CLOEXEC)
    try:
        call(_FSCONFIG, made, _CREATE, None, None, 0)
        root = call(_FSMOUNT, made, _CLOEXEC, 0)
    finally:
        os.close(made)
    try:
        held = os.open(f"events/{point}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=root)
    finally:
        os.close(root)
    with os.fdopen(held, encoding="ascii") as file:
        return file.read()


def call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call that Python has no function for. Raises `OSError`."""
    library = ctypes.CDLL(None, use_errno=True)
    found = int(library.syscall(ctypes.c_long(number), *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found
