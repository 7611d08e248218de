"""Changes decoded of PostgreSQL's log (logical decoding), by its own plugin `pgoutput`, over functions of SQL.

A replication slot keeps the log from what was read on. While it is there the log is not removed: so there is one only where the variant
says that the server is set up for it, and it goes with the collection.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from storeproof.adapters.postgresql.link import Link, sqlstate
from storeproof.contract import Change, Key, Refused, Unsupported

_LOOK_AGAIN = 0.02
"""Seconds between two looks: the functions of SQL do not wait, as the replication protocol does."""

Values = list[str | bytes | None]
"""The values of a row: texts, None for NULL, `_UNCHANGED` for what is kept elsewhere and was not written again."""
_UNCHANGED = b"u"

_NOT_ALLOWED = "42501"
"""insufficient_privilege."""


class Decoding:
    """What a slot has for us."""

    @dataclass
    class Token:
        """How far it was read, beyond what the slot itself knows: changes of a transaction whose rest was not answered yet."""

        answered: int = 0

    def __init__(
        self,
        link: Link,
        name: str,
        token: Token,
        key_of: Callable[[str], Key],
        columns: Mapping[str, str] | None,
        decode: Callable[[Sequence[Any]], Any],
    ) -> None:
        """`columns`: those of the record with their types, if records are wanted."""
        self._link = link
        self._name = name
        self._token = token
        self._key_of = key_of
        self._columns = columns
        self._decode = decode

    @staticmethod
    def prepare(link: Link, name: str, records: bool) -> None:
        """Make a publication of the table, and a slot."""
        link.run("SELECT relpersistence = 'p', current_setting('wal_level') FROM pg_class WHERE oid = to_regclass(%s)", (f'"{name}"',))
        permanent, level = link.rows()[0]
        if not permanent or level != "logical":
            raise Unsupported(f"the log has no row changes to decode: wal_level is {level}, the table is {'' if permanent else 'un'}logged")
        try:
            Decoding._make(link, name, records)
        except Refused as reason:
            if sqlstate(reason) == _NOT_ALLOWED:
                raise Unsupported(f"the user has no permission to decode the log: {reason}") from reason
            raise

    @staticmethod
    def _make(link: Link, name: str, records: bool) -> None:
        Decoding.remove(link, name)
        if records:  # also what is kept apart from its row, and was not written again, is then in the log
            link.run(f'ALTER TABLE "{name}" REPLICA IDENTITY FULL', prepare=False)
        link.run(f'CREATE PUBLICATION "{name}" FOR TABLE "{name}"', prepare=False)
        link.run("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (name,), prepare=False)

    @staticmethod
    def remove(link: Link, name: str) -> None:
        """Drop the slot and the publication, if they are there."""
        link.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", (name,), prepare=False)
        link.run(f'DROP PUBLICATION IF EXISTS "{name}"', prepare=False)

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        end = monotonic() + seconds
        told: list[Change] = []
        while True:
            found = self._next(count - len(told))
            told += found
            if len(told) >= count or monotonic() >= end:
                return told
            if not found:
                sleep(_LOOK_AGAIN)

    def close(self) -> None:
        self._link.close()

    def _next(self, count: int) -> list[Change]:
        self._link.run(
            "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, NULL, %s::integer, 'proto_version', '1', 'publication_names', %s)",
            (self._name, count + self._token.answered, f'"{self._name}"'),
        )
        told: list[Change] = []
        skipped = self._token.answered
        read = None
        for (message,) in self._link.rows():
            if message[:1] == b"C":  # its end, from where the slot goes on
                (read,) = struct.unpack_from(">Q", message, 10)
                self._token.answered = 0
            elif change := self._change(message):
                if skipped:
                    skipped -= 1
                    continue
                if len(told) == count:
                    break
                told.append(change)
                self._token.answered += 1
        if read is not None:
            self._link.run("SELECT pg_replication_slot_advance(%s, %s::pg_lsn)", (self._name, f"{read >> 32:X}/{read & 0xFFFFFFFF:X}"))
        return told

    def _change(self, message: bytes) -> Change | None:
        kind = message[:1]
        if kind not in (b"I", b"U", b"D"):
            return None  # beginnings of transactions, descriptions of the table
        rows = dict(_rows(message, 5))
        old = rows.get(b"O") or rows.get(b"K")
        if kind == b"D":
            assert old is not None
            return Change("delete", self._key(old))
        new = rows[b"N"]
        if old is not None:
            new = [was if value == _UNCHANGED else value for value, was in zip(new, old, strict=True)]
        if self._columns is None:
            return Change("put", self._key(new))
        values = [_value(value, kind) for value, kind in zip(new[1:], self._columns.values(), strict=False)]
        return Change("put", self._key(new), self._decode(values))

    def _key(self, values: Values) -> Key:
        text = values[0]
        assert isinstance(text, str)
        return self._key_of(text.removeprefix("\\x"))


def _rows(message: bytes, place: int) -> Iterator[tuple[bytes, Values]]:
    """The rows of a message, each behind a letter: of the key before, of all before, of all after."""
    while place < len(message):
        letter, (columns,) = message[place : place + 1], struct.unpack_from(">H", message, place + 1)
        place += 3
        values: Values = []
        for _ in range(columns):
            kind, place = message[place : place + 1], place + 1
            if kind == b"t":
                (length,) = struct.unpack_from(">I", message, place)
                values.append(message[place + 4 : place + 4 + length].decode())
                place += 4 + length
            else:
                values.append(_UNCHANGED if kind == _UNCHANGED else None)
        yield letter, values


def _value(written: str | bytes | None, kind: str) -> Any:
    """A column as a statement would have read it."""
    if not isinstance(written, str):
        return written
    if kind == "bytea":
        return bytes.fromhex(written[2:])
    return float(written) if kind == "double precision" else int(written) if kind in ("integer", "bigint") else written
