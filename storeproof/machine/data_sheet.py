"""Measures what a disk costs those who wait for it: single writes that are on the disk when they return, and reading and writing in
sequence."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Final

_RECORD: Final = 600
_BLOCK: Final = 4096
_WRITES: Final = 200
_LONGEST: Final = 2.0
"""Time limit in seconds of each measurement: a hard disk makes fewer writes than a flash drive."""
_FEWEST: Final = 3
_CHUNK: Final = 16 << 20
"""Bytes between two syncs in sequence: a hard disk writes them in the time of ten syncs."""
_CHUNKS: Final = 4


@dataclass(frozen=True)
class DataSheet:
    """Times of single writes in microseconds, and bytes a second; what the file system cannot do is empty, or None."""

    append: Sequence[float]
    overwrite: Sequence[float]
    direct: Sequence[float]
    write_rate: float | None
    read_rate: float | None


@cache
def data_sheet(directory: Path) -> DataSheet:
    """Measured once, in a file without a name. Where the directory cannot be written to, nothing is known."""
    append: Sequence[float] = ()
    overwrite: Sequence[float] = ()
    direct: Sequence[float] = ()
    write_rate = read_rate = None
    with suppress(OSError), tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        append = _appends(file.fileno())
        overwrite = _overwrites(file.fileno())
        write_rate, read_rate = _rates(file.fileno())
        direct = _direct_writes(file.fileno())  # the last: not every file system has direct I/O
    return DataSheet(append, overwrite, direct, write_rate, read_rate)


def _appends(file: int) -> list[float]:
    record = os.urandom(_RECORD)

    def append(_: int) -> None:
        os.write(file, record)
        os.fdatasync(file)

    return _times(append)


def _overwrites(file: int) -> list[float]:
    """Of blocks that are allocated and on the disk already."""
    os.pwrite(file, os.urandom(_BLOCK * _WRITES), 0)
    os.fsync(file)
    block = os.urandom(_BLOCK)

    def overwrite(number: int) -> None:
        os.pwrite(file, block, _BLOCK * number)
        os.fdatasync(file)

    return _times(overwrite)


def _direct_writes(opened: int) -> list[float]:
    file = os.open(f"/proc/self/fd/{opened}", os.O_WRONLY | os.O_DIRECT | os.O_DSYNC | os.O_CLOEXEC)
    try:
        with mmap.mmap(-1, _BLOCK) as aligned:
            aligned[:] = os.urandom(_BLOCK)
            return _times(lambda number: os.pwrite(file, aligned, _BLOCK * number))
    finally:
        os.close(file)


def _times(write: Callable[[int], object]) -> list[float]:
    times: list[float] = []
    begun = perf_counter()
    while len(times) < _WRITES and (len(times) < _FEWEST or perf_counter() - begun < _LONGEST):
        start = perf_counter()
        write(len(times))
        times.append((perf_counter() - start) * 1e6)
    return times


def _rates(file: int) -> tuple[float, float]:
    """Bytes a second of writing and reading in sequence."""
    text, seconds, written = os.urandom(_CHUNK), 0.0, 0
    while written < _CHUNKS * _CHUNK and seconds < _LONGEST:
        start = perf_counter()
        written += os.pwrite(file, text, written)
        os.fdatasync(file)
        seconds += perf_counter() - start
    write_rate = written / seconds
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)  # else it would be read from the page cache
    start, read = perf_counter(), 0
    while read < written and perf_counter() - start < _LONGEST:
        read += len(os.pread(file, _CHUNK, read))
    return write_rate, read / (perf_counter() - start)
