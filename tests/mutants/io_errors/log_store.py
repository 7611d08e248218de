"""A store with a log of blocks, and the ways in which it takes errors of its disk for something else.

Its honest twin ends where a sync fails: what its log has on the disk is not known any more.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

import msgpack

from storeproof.embedded.host import Failure
from tests.mutants.log_stores.log import Entry, Log
from tests.mutants.log_stores.served import connect as connect
from tests.mutants.log_stores.served import run


class WrittenTwice(Log):
    """Honest too: where a sync failed it writes the entry in its place once more, and refuses the request all the same."""

    def unsynced(self, entry: Entry) -> None:
        text = self.read(self._length(len(msgpack.packb(entry))), self._end)
        try:
            self.write(text, self._end)
            self.sync()
        except OSError:
            os._exit(1)
        self._note(entry)
        raise Failure("refused", "its sync failed")


class IgnoredSync(Log):
    """A sync's error is ignored."""

    def sync(self) -> None:
        with contextlib.suppress(OSError):
            super().sync()


class RepeatedSync(Log):
    """A sync that failed is asked for again, and says that all is well."""

    def sync(self) -> None:
        try:
            super().sync()
        except OSError:
            super().sync()


class _SyncFailed(Exception):
    pass


class RepeatedWrite(Log):
    """What was written is written once more where a sync failed, behind what was lost."""

    def append(self, entry: Entry) -> None:
        try:
            super().append(entry)
        except _SyncFailed:
            self._note(entry)
        else:
            return
        try:
            super().append(entry)
        except _SyncFailed:
            os._exit(1)

    def sync(self) -> None:
        try:
            super().sync()
        except OSError:
            raise _SyncFailed from None


class NotFound(Log):
    """A read's error is an absent record."""

    def get(self, name: str, key: str) -> bytes | None:
        try:
            return super().get(name, key)
        except OSError:
            return None


class EndOfLog(Log):
    """A read's error at the start is the end of the log."""

    _started = False

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self._started = True

    def read(self, size: int, place: int) -> bytes:
        try:
            return super().read(size, place)
        except OSError:
            if self._started:
                raise
            return b""


class HalfAnEntry(Log):
    """What was written of an entry before the disk was full stays, and the next one follows it."""

    def undo(self) -> None:
        self._end = -(-os.fstat(self._file).st_size // self.block) * self.block


class IgnoredLength(Log):
    """How much of an entry was written is not looked at."""

    def write(self, text: bytes, place: int) -> None:
        os.pwrite(self._file, text, place)


LOGS: Final = (Log, WrittenTwice, IgnoredSync, RepeatedSync, RepeatedWrite, NotFound, EndOfLog, HalfAnEntry, IgnoredLength)

if __name__ == "__main__":
    run(LOGS)
