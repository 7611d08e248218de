"""The locks of the layer: one for each key, and one for each collection, held by the clients of all processes on this machine.

A lock is a byte of a file that all clients have open. The kernel keeps it (open file description locks, fcntl(2)), so that threads exclude
each other as processes do, and frees it when its holder dies. Two keys may share a byte, which only makes one wait for the other.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from storeproof.contract import Key

_FLOCK: Final = "hhqqi0q"
"""`struct flock`: type, whence, start, length, process; padded to the alignment of its largest member."""


class Locks:
    """The locks as one client holds them."""

    def __init__(self, path: str) -> None:
        """Open the file, which exists. Raises `OSError`."""
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    @property
    def file(self) -> int:
        """The descriptor of the file, whose bytes are free for others: locks are none."""
        return self._file

    @contextmanager
    def of_keys(self, collection: str, keys: Iterable[Key]) -> Iterator[None]:
        """Hold the locks of keys, and share that of their collection."""
        shared = _place(collection)
        # In one order for all clients, so that none waits for another in a circle; that of the collection comes first.
        places = sorted({_place(f"{collection}\0{key!r}") for key in keys})
        held = []
        try:
            for place, kind in ((shared, fcntl.F_RDLCK), *((each, fcntl.F_WRLCK) for each in places if each != shared)):
                self._set(kind, place)
                held.append(place)
            yield
        finally:
            for place in held:
                self._set(fcntl.F_UNLCK, place)

    @contextmanager
    def of_collection(self, collection: str) -> Iterator[None]:
        """Hold the lock of a collection, so that no client holds one of its keys."""
        place = _place(collection)
        self._set(fcntl.F_WRLCK, place)
        try:
            yield
        finally:
            self._set(fcntl.F_UNLCK, place)

    @contextmanager
    def if_free(self, collection: str, key: Key) -> Iterator[bool]:
        """Hold the lock of a key if no other client does; says whether it is held."""
        place = _place(f"{collection}\0{key!r}")
        try:
            self._set(fcntl.F_WRLCK, place, fcntl.F_OFD_SETLK)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            self._set(fcntl.F_UNLCK, place)

    def beside(self, name: str) -> str:
        """The path of another file of all clients, which ends as the file of the locks does."""
        return f"{self._path}.{name}"

    def close(self) -> None:
        """Free all and close the file; may be called twice, since another file may have its number by then."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _set(self, kind: int, place: int, how: int = fcntl.F_OFD_SETLKW) -> None:
        fcntl.fcntl(self._file, how, struct.pack(_FLOCK, kind, os.SEEK_SET, place, 1, 0))


def _place(name: str) -> int:
    """The position of the byte, below 2^62: file positions have a sign."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 2
