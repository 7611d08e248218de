"""Fences: a copy that its client has given up never counts, whenever the front is given it.

A client that gets no answer from the front cannot know whether its copy will still arrive: the request may wait in a server that is paused,
or on the way, until long after the key was written again. So each copy begins with the token of its key, and counts only as long as that is
the token. A client that gives up a request to the front replaces the token before it frees the lock of the key. From then on the front may
be given that copy at any time: no client takes it.

The tokens are in the file of the locks. A token belongs to all keys that share its slot, which then lose their copies together.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Final

from storeproof.adapters.composite.locks import Locks
from storeproof.contract import Key

_SLOTS: Final = 1024
_BYTES: Final = 8
"""The length of a token. It is random, so that none comes twice, and lies in one word, which the kernel reads and writes at once."""


class Fences:
    """The tokens, as one client sees them. A client that sends a copy, or replaces a token, holds the lock of the key."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks

    def token(self, collection: str, key: Key) -> bytes:
        """What a copy of this key must begin with now; empty as long as no request for a key of its slot was given up."""
        return os.pread(self._locks.file, _BYTES, _place(collection, key)).strip(b"\0")

    def replace(self, collection: str, keys: Iterable[Key]) -> None:
        """No copy of these keys counts any more."""
        for key in keys:
            os.pwrite(self._locks.file, _random(), _place(collection, key))

    def replace_all(self) -> None:
        """No copy of any key counts any more."""
        os.pwrite(self._locks.file, b"".join(_random() for _ in range(_SLOTS)), 0)


def _random() -> bytes:
    """A token without zeros, which stand for none."""
    return bytes(1 + each % 255 for each in os.urandom(_BYTES))


def _place(collection: str, key: Key) -> int:
    """The position of the token in the file, in bytes."""
    name = f"{collection}\0{key!r}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest()) % _SLOTS * _BYTES
