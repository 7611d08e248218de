"""The writes of one collection that wait in the front for the home: values of the front, each under a number of its own.

The numbers are given out in the order of the writes to a key, by a file beside that of the locks. A number is used once. So whatever the
front carries out late, of a request that its client has given up, harms no other write: a value that arrives after its number was passed
is never read, and a removal that arrives late removes nothing else. A list in the front would have neither: an item that is taken off it
twice is another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from storeproof.adapters.composite.connection import ConnectedCollection, Connection
from storeproof.adapters.composite.encoding import as_values
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import Layout, Unknown

_HEAD: Final = "head"
_TAIL: Final = "tail"
_PLACES: Final = {_HEAD: 0, _TAIL: 8}
"""Where each number is in the file, in bytes; each has 8."""
_BATCH: Final = 50
"""Writes that are read from the front together."""


class WriteQueue:
    """The queue, as one client sees it. It waits for nothing in the home, so that what takes from it holds no lock of its writers."""

    def __init__(self, front: Connection, layout: Layout, locks: Locks) -> None:
        """Raises `Unsupported`: the front keeps no values."""
        values = as_values(layout, "behind", key="integer", key_order="ordered")
        self._name = values.name
        self._values = ConnectedCollection(front, values)
        self._locks = locks
        self._path = locks.beside(self._name)

    def prepare(self) -> None:
        self._values.ask("prepare")

    def clear(self) -> None:
        with self._locks.of_keys(self._name, [_HEAD]), self._numbers() as file:
            self._values.ask("clear")
            _write(file, _HEAD, _read(file, _TAIL))

    @property
    def length(self) -> int:
        """The number of writes that wait, also of those that the front has lost and no client has missed yet."""
        with self._numbers() as file:
            head = _read(file, _HEAD)  # first, so that a write which another client adds meanwhile counts
            return _read(file, _TAIL) - head

    def add(self, write: bytes) -> None:
        """Let a write wait.

        Raises:
            Refused: the front does not take it.
            Unknown: whether it waits is not known.
        """
        with ExitStack() as held:
            with self._locks.of_keys(self._name, [_TAIL]), self._numbers() as file:
                number = _read(file, _TAIL)
                held.enter_context(self._locks.of_keys(self._name, [number]))
                _write(file, _TAIL, number + 1)
            self._values.ask("put", number, write)

    def take(self, give: Callable[[list[bytes]], None], *, wait: bool) -> None:
        """Give all writes that wait now, in their order, a part at a time; they leave the queue when `give` has returned.

        Args:
            wait: for another client that takes from it; else nothing is done beside one.

        Raises:
            Unknown: the front does not answer, or what `give` raises. All that was not given still waits.
        """
        with self._locks.of_keys(self._name, [_HEAD]) if wait else self._locks.if_free(self._name, _HEAD) as taken:
            if taken is False:
                return
            with self._numbers() as file:
                number, end = _read(file, _HEAD), _read(file, _TAIL)
                while number < end:
                    after = min(end, number + _BATCH)
                    numbers = range(number, after)
                    if waiting := [each for each in self._when_written(numbers) if each is not None]:
                        give(waiting)
                    _write(file, _HEAD, after)
                    with suppress(Unknown):  # one that stays is not read again
                        for each in numbers:
                            self._values.ask("delete", each)
                    number = after

    def _when_written(self, numbers: Sequence[int]) -> list[bytes | None]:
        """The writes under these numbers. None: it did not come in, or the front has lost it."""
        for each in numbers:
            with self._locks.of_keys(self._name, [each]):  # a client that may still write under it holds it
                pass
        if self._values.supports("get_many"):
            return list(self._values.ask("get_many", list(numbers)))
        return [self._values.ask("get", each) for each in numbers]

    @contextmanager
    def _numbers(self) -> Iterator[int]:
        """The file of the numbers. It is not kept open: a session may see many collections."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield file
        finally:
            os.close(file)


def _read(file: int, which: str) -> int:
    return int.from_bytes(os.pread(file, 8, _PLACES[which]), "little")


def _write(file: int, which: str, number: int) -> None:
    os.pwrite(file, number.to_bytes(8, "little"), _PLACES[which])
