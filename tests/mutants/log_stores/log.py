"""A log of entries that a store writes, and where in it each record is. It keeps that in memory, and reads records from the log."""

from __future__ import annotations

import errno
import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

import msgpack

from storeproof.embedded.host import Failure

_HEAD: Final = struct.Struct("<II")
"""The length of the text at the end of the entry, and the checksum of both."""
_LENGTH: Final = struct.Struct("<I")

Entry = Sequence[tuple[str, str, bytes | None]]
"""Collection, key and record of each write; no record for a delete."""


class Log:
    """Honest: it ends where a sync fails."""

    block: ClassVar[int] = 8192
    """Bytes of which each entry is a multiple, so that no later one writes its pages again; two pages, of which a full disk takes one."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._file = self.opened()
        self._end = 0
        self._places: dict[tuple[str, str], tuple[int, int]] = {}
        """Where the entry of each record is, and which of its writes it is."""
        while (entry := self._entry(self._end)) is not None:
            self._note(entry)
        self.cut_tail()
        os.fsync(self._file)
        self.sync_directory()
        for advice in (os.POSIX_FADV_DONTNEED, os.POSIX_FADV_RANDOM):  # so that each read comes from the disk
            os.posix_fadvise(self._file, 0, 0, advice)

    def opened(self) -> int:
        return os.open(self.data / "log", os.O_RDWR | os.O_CREAT, 0o600)

    def close(self) -> None:
        os.close(self._file)

    def names(self) -> list[tuple[str, str]]:
        """Collection and key of each record."""
        return list(self._places)

    def get(self, name: str, key: str) -> bytes | None:
        if (name, key) not in self._places:
            return None
        place, number = self._places[name, key]
        entry = self._entry(place)
        if entry is None:
            raise OSError(errno.EIO, "damaged")
        return entry[number][2]

    def append(self, entry: Entry) -> None:
        try:
            self.write(self.packed(entry), self._end)
        except OSError as reason:
            self.undo()
            raise Failure("refused", str(reason)) from None
        try:
            self.sync()
        except OSError:
            self.unsynced(entry)
        self._note(entry)

    def packed(self, entry: Entry) -> bytes:
        text: bytes = msgpack.packb(entry)
        head = _HEAD.pack(len(text), self.checksum(text))
        return head + bytes(self._length(len(text)) - len(head) - len(text)) + text

    def unsynced(self, entry: Entry) -> None:
        """What it does where a sync failed."""
        os._exit(1)

    def write(self, text: bytes, place: int) -> None:
        while text:
            done = os.pwrite(self._file, text, place)
            text, place = text[done:], place + done

    def undo(self) -> None:
        """Of an entry that was not written whole."""
        os.ftruncate(self._file, self._end)

    def cut_tail(self) -> None:
        """Of an entry whose write was cut short: it was never acknowledged."""
        os.ftruncate(self._file, self._end)

    def sync(self) -> None:
        os.fdatasync(self._file)

    def sync_directory(self) -> None:
        folder = os.open(self.data, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def read(self, size: int, place: int) -> bytes:
        """All that there is: before an error a part of it may be read."""
        found = b""
        while more := os.pread(self._file, size - len(found), place + len(found)):
            found += more
        return found

    def checksum(self, text: bytes) -> int:
        return zlib.crc32(_LENGTH.pack(len(text)) + text)

    def _entry(self, place: int) -> Entry | None:
        """The entry at a place; None at the end. Raises OSError."""
        head = self.read(_HEAD.size, place)
        if len(head) < _HEAD.size:
            return None
        size, checksum = _HEAD.unpack(head)
        text = self.read(size, place + self._length(size) - size)
        if len(text) < size or self.checksum(text) != checksum:
            return None
        entry: Entry = msgpack.unpackb(text)
        return entry

    def _note(self, entry: Entry) -> None:
        for number, (name, key, record) in enumerate(entry):
            if record is None:
                self._places.pop((name, key), None)
            else:
                self._places[name, key] = self._end, number
        self._end += self._length(len(msgpack.packb(entry)))

    def _length(self, size: int) -> int:
        """Of the entry of a text of this size."""
        return -(-(_HEAD.size + size) // self.block) * self.block
