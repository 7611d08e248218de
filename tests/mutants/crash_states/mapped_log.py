"""Stores that write through memory mappings, which a recorded disk sees when the kernel writes them back."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Final

from tests.mutants.log_stores.log import Log
from tests.mutants.log_stores.served import connect, run

__all__ = ["connect"]

_BYTES: Final = 4 << 20


class Mapped(Log):
    """Its log is mapped, and synced before each reply."""

    _pages: mmap.mmap | None = None

    def write(self, text: bytes, place: int) -> None:
        if self._pages is None:  # and never unmapped: the kernel would write its pages back
            os.ftruncate(self._file, _BYTES)
            self._pages = mmap.mmap(self._file, _BYTES)
        self._pages[place : place + len(text)] = text


class Unsynced(Mapped):
    """Its log is mapped, and the end of its process takes nothing from it: that is all that it promises."""

    def sync(self) -> None:
        pass


class SharedLocks(Log):
    """Its log is written, and a file of locks is mapped, which need not survive it."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        file = os.open(data / "locks", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.ftruncate(file, mmap.PAGESIZE)
        self._locks = mmap.mmap(file, mmap.PAGESIZE)
        os.close(file)

    def write(self, text: bytes, place: int) -> None:
        self._locks[0] = 1
        super().write(text, place)
        self._locks[0] = 0


LOGS: Final = (Mapped, Unsynced, SharedLocks)

if __name__ == "__main__":
    run(LOGS)
