"""Tells how much of what clients wrote reached a data directory. A fault says nothing about a store whose files it did not reach."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from storeproof.disk.methods import Disk
from storeproof.errors import NotAvailable
from storeproof.launch.handle import DataWritten


class DiskWritten:
    """What reaches a disk of the store's own from now on."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._before = disk.written()

    def bytes(self) -> int:
        return self._disk.written() - self._before


class AllWritten:
    """What reaches several data directories from now on."""

    def __init__(self, each: Sequence[DataWritten]) -> None:
        self._each = each

    def bytes(self) -> int:
        return sum(one.bytes() for one in self._each)


class _Mark(NamedTuple):
    """What changes when a file is written to. Times are compared for being equal only: the clock of a machine may be set back."""

    inode: int
    size: int
    blocks: int
    """A page that is written through a mapping changes no time of a file in memory, but takes a block where there was none."""
    modified: int


class ChangedFiles:
    """The files of a directory that change from now on."""

    def __init__(self, folder: Path) -> None:
        """Look at all files of the directory. Raises `NotAvailable`: this user may not."""
        self._folder = folder
        self._before = dict(_marks(folder))

    def bytes(self) -> int:
        """The sizes of the files that have changed or are new, no less than what was written to them and is still there."""
        return sum(mark.size for file, mark in _marks(self._folder) if self._before.get(file) != mark)


def _marks(folder: Path) -> Iterator[tuple[str, _Mark]]:
    for inside, _, names in os.walk(folder, onerror=_unless_gone):
        for name in names:
            file = f"{inside}/{name}"
            try:
                found = os.lstat(file)
            except OSError:  # removed meanwhile
                continue
            if stat.S_ISREG(found.st_mode):
                yield file, _Mark(found.st_ino, found.st_size, found.st_blocks, found.st_mtime_ns)


def _unless_gone(reason: OSError) -> None:
    """A directory that cannot be read."""
    if not isinstance(reason, FileNotFoundError):
        raise NotAvailable(f"the data directory cannot be looked at: {reason.filename}: {reason.strerror}", "run it as root") from None
