"""A store with a log of entries side by side, which it can rewrite, and the ways in which a crash shows what it does not do.

There are two honest ones: `Appended` lets its log grow, and `Allocated` writes zeros first and entries in their place, so that a sync of it
has no size to make durable, and commits no name with it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from storeproof.embedded import session
from tests.mutants.log_stores.log import Entry, Log
from tests.mutants.log_stores.served import FUNCTIONS as PLAIN
from tests.mutants.log_stores.served import run

_BYTES: Final = 32768
"""Of an allocated log."""


class Appended(Log):
    """Honest."""

    block = 1

    def opened(self) -> int:
        """The log with the highest number; what was not finished, or came before, is removed."""
        numbers = sorted(int(each.name.removeprefix("log-")) for each in self.data.glob("log-*"))
        self._number = numbers.pop() if numbers else 0
        for name in ["new", *(f"log-{number}" for number in numbers)]:
            (self.data / name).unlink(missing_ok=True)
        new = not self._log().exists()
        file = os.open(self._log(), os.O_RDWR | os.O_CREAT, 0o600)
        if new:
            self.allocate(file)
        return file

    def _log(self) -> Path:
        return self.data / f"log-{self._number}"

    def allocate(self, file: int) -> None:
        """Nothing: it grows."""

    def compact(self) -> None:
        """Write the records that there are into a new log, and remove the old one."""
        live = [(*place, self.get(*place)) for place in self.names()]
        before, old = self._file, self._log()
        self._file, self._number = os.open(self.data / "new", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), self._number + 1
        self.allocate(self._file)
        self._end = 0
        self.write(self.packed(live), 0)
        self._note(live)
        self.install()
        os.close(before)
        old.unlink()

    def install(self) -> None:
        """Give the new log its name."""
        os.fsync(self._file)
        (self.data / "new").rename(self._log())
        self.sync_directory()


class Allocated(Appended):
    """Honest."""

    def allocate(self, file: int) -> None:
        os.pwrite(file, bytes(_BYTES), 0)

    def undo(self) -> None:
        self.cut_tail()

    def cut_tail(self) -> None:
        os.pwrite(self._file, bytes(_BYTES - self._end), self._end)


class AcknowledgedFirst(Appended):
    """An entry is synced before the next one is written."""

    def append(self, entry: Entry) -> None:
        super().sync()
        super().append(entry)

    def sync(self) -> None:
        pass


class Forgetful(Appended):
    """It begins with no records each time: nothing that it acknowledged is there after any crash."""

    def opened(self) -> int:
        for each in self.data.glob("log-*"):
            each.unlink()
        return super().opened()


class EveryOtherSync(Appended):
    """Every other entry is synced."""

    _due = False

    def sync(self) -> None:
        self._due = not self._due
        if self._due:
            super().sync()


class InParts(Appended):
    """A group is written as two entries."""

    def append(self, entry: Entry) -> None:
        for each in filter(None, (entry[: len(entry) // 2], entry[len(entry) // 2 :])):
            super().append(each)


class RenamedFirst(Appended):
    """The rewritten log has its name before it is synced."""

    def install(self) -> None:
        (self.data / "new").rename(self._log())
        os.fsync(self._file)
        self.sync_directory()


class UnsyncedRename(Allocated):
    """The directory is not synced after the rewritten log got its name."""

    def sync_directory(self) -> None:
        pass


class UnsyncedDirectory(Appended):
    """The same, of a log that grows: each sync has to make its size durable."""

    def sync_directory(self) -> None:
        pass


class UncutTail(Appended):
    """Entries follow what a crash left of the last one."""

    def cut_tail(self) -> None:
        self._end = os.fstat(self._file).st_size


class NoChecksum(Allocated):
    """An entry with a length is one."""

    def checksum(self, text: bytes) -> int:
        return 0 if text else 1


class NoChecksumAtTheEnd(Appended):
    """The same, of a log that grows."""

    def checksum(self, text: bytes) -> int:
        return 0 if text else 1


class LengthLeftOut(Appended):
    """The checksum is of the text alone: zeros are an entry without one."""

    def checksum(self, text: bytes) -> int:
        return zlib.crc32(text)


LOGS: Final = (
    *(Appended, Allocated, AcknowledgedFirst, EveryOtherSync, InParts, RenamedFirst, UnsyncedRename, UnsyncedDirectory, UncutTail),
    *(NoChecksum, NoChecksumAtTheEnd, LengthLeftOut, Forgetful),
)


def compact(log: Appended) -> str:
    log.compact()
    return "compact"


FUNCTIONS: Final = {**PLAIN, "compact": compact}


def connect(address: Any, options: Mapping[str, str]) -> Any:
    return session(address, options, FUNCTIONS)


if __name__ == "__main__":
    run(LOGS, **FUNCTIONS)
