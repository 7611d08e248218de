"""The home of `write-behind`: its writes of whole records wait in a queue in the front, and all else that it is asked comes after them.

The layer has no process of its own. Its clients carry out the queue: when it has become long, before they ask the home for anything, and
when they end. One client at a time does, and the others go on meanwhile. Of several writes to a key the home gets the last one, and many
keys in one request if it has such requests, as applications do it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from storeproof.adapters.composite.connection import ConnectedCollection, Connection
from storeproof.adapters.composite.encoding import decode, encode
from storeproof.adapters.composite.locks import Locks
from storeproof.adapters.composite.write_queue import WriteQueue
from storeproof.contract import OPERATIONS, Key, Layout, Record, Refused, Row, Unknown, Unsupported, WrongReply
from storeproof.contract.administration import Validation
from storeproof.contract.families import Lacking
from storeproof.spec.model import Index

_LONG: Final = 50
"""Writes that wait before the client that added the last one carries them out, unless another one does."""
_FULL: Final = 1000
"""Writes that wait before clients do wait for another one that carries them out: else a slow home would fill the memory of the front."""
_LARGE: Final = 1 << 16
"""Bytes of a write that is too large to wait."""
_TOO_LATE: Final = "a write is acknowledged before the home can refuse it"


class Behind:
    """A collection of the home, and the queue of its writes. It has the operations that the home's collection has, but for unique indexes
    and rules, which only a refusal can keep."""

    def __init__(self, front: Connection, layout: Layout, home: Connection, locks: Locks) -> None:
        """Raises `Unsupported`: one of them keeps no such records."""
        self._model = layout.model
        self._queue = WriteQueue(front, layout, locks)
        self._home = ConnectedCollection(home, layout)
        records = self._home.records
        lacking = records.unsupported_because if isinstance(records, Lacking) else {}
        self.unsupported_because: Mapping[str, str] = {**lacking, Validation.__name__: _TOO_LATE}
        for name, operation in OPERATIONS.items():
            if isinstance(records, operation.family) and operation.family is not Validation:
                setattr(self, name, self._method(name))

    def prepare(self) -> None:
        self._home.ask("prepare")
        self._queue.prepare()

    def clear(self) -> None:
        self._queue.clear()
        self._home.ask("clear")

    def describe(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self._home.ask("describe")
        return found

    @property
    def waiting(self) -> int:
        return self._queue.length

    def carry_out(self, *, wait: bool = True) -> None:
        """Give the home all writes that wait now. One that the home refuses is lost, although it was acknowledged.

        Args:
            wait: for another client that does; else nothing is done beside one.

        Raises:
            Unknown: a server did not answer. What the home does not have still waits.
        """
        self._queue.take(self.give, wait=wait)

    def give(self, writes: list[bytes]) -> None:
        """Give the home these writes of the queue, in their order. Raises `Unknown`: it may have some of them."""
        records = {key: decode(self._model, copy) for write in writes for key, copy in _parts(write)}
        if len(records) > 1 and self._home.supports("put_many"):
            with suppress(Refused):  # one of them: then each is given by itself
                self._home.ask("put_many", records)
                return
        for key, record in records.items():
            with suppress(Refused):  # the client that wrote it has its acknowledgement
                self._home.ask("put", key, record)

    def _method(self, name: str) -> Callable[..., Any]:
        if name == "put":
            return lambda key, record: self._write(name, {key: record}, key, record)
        if name == "put_many":
            return lambda records: self._write(name, records, records)
        if name == "create_index":
            return self._create_index
        return lambda *args: self._after_the_queue(name, *args)

    def _create_index(self, index: Index) -> None:
        if index.unique:
            raise Unsupported(_TOO_LATE)
        self._after_the_queue("create_index", index)

    def _write(self, operation: str, records: Mapping[Key, Record], *args: Any) -> None:
        """Let a write wait; one that the queue does not take goes to the home at once."""
        try:
            if not all(is_plain(key, record) for key, record in records.items()):
                raise Refused("the home may refuse it, which the client must hear")
            write = _joined({key: encode(self._model, record) for key, record in records.items()})
            if len(write) > _LARGE:
                raise Refused("it is too large to wait")
            self._queue.add(write)
        except (Refused, ValueError, RecursionError):
            self._after_the_queue(operation, *args)
            return
        if (waiting := self._queue.length) >= _LONG:
            with suppress(Unknown):  # this write waits, whatever became of the others
                self.carry_out(wait=waiting >= _FULL)

    def _after_the_queue(self, operation: str, *args: Any) -> Any:
        self.carry_out()
        return self._home.ask(operation, *args)


def _joined(copies: Mapping[Key, bytes]) -> bytes:
    """The writes of one request, which wait together: of each the key as JSON, which has no line end, the length, and the copy."""
    return b"".join(b"%s\n%d\n%s" % (json.dumps(key).encode(), len(copy), copy) for key, copy in copies.items())


def _parts(write: bytes) -> list[tuple[Key, bytes]]:
    """The keys and copies of `_joined`. Raises `WrongReply`: the front answered something else."""
    found: list[tuple[Key, bytes]] = []
    try:
        while write:
            key, length, rest = write.split(b"\n", 2)
            size = int(length)
            if size > len(rest):
                raise ValueError(f"{size} bytes are announced, {len(rest)} are there")
            found.append((json.loads(key), rest[:size]))
            write = rest[size:]
    except ValueError as reason:
        raise WrongReply(f"the front answered what is no queued write: {reason}") from reason
    return found


_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LONGEST_KEY: Final = 100
"""Characters."""
_DEEPEST: Final = 20
"""Objects and lists within each other."""
_32_BITS: Final = range(-(2**31), 2**31)
_64_BITS: Final = range(-(2**63), 2**63)


def is_plain(key: Key, record: Record) -> bool:
    """Whether every home takes this record under this key: only these wait for it.

    A write that waits was acknowledged. If the home then refuses it, its client never hears of that. So whatever one home or another
    refuses, such as a NUL in a text or a field name with a dot, goes to the home at once, as an application checks what it puts into a
    queue.
    """
    return _is_key(key) and _is_record(record)


def _is_key(key: Key) -> bool:
    return key in _64_BITS if isinstance(key, int) else 0 < len(key) <= _LONGEST_KEY and _is_text(key)


def _is_record(record: Any) -> bool:
    if isinstance(record, bytes):
        return True
    if isinstance(record, Row):
        return record.integer in _32_BITS and math.isfinite(record.real)
    return isinstance(record, dict) and all(_NAME.fullmatch(name) and _is_value(value, 1) for name, value in record.items())


def _is_value(value: Any, depth: int) -> bool:
    match value:
        case None | bool() | bytes():
            return True
        case int():
            return value in _64_BITS
        case float():
            return math.isfinite(value)
        case str():
            return _is_text(value)
        case list():
            return depth < _DEEPEST and all(_is_value(item, depth + 1) for item in value)
        case dict():
            return depth < _DEEPEST and all(_NAME.fullmatch(name) and _is_value(item, depth + 1) for name, item in value.items())
    return False


def _is_text(text: str) -> bool:
    """Whether it has neither a NUL nor half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)
