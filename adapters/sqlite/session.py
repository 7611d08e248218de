"""A session with the process that hosts the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from storeproof.adapters.sql import records
from storeproof.adapters.sqlite.documents import Documents
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.structures import Items, Queues, Rankings, Sets
from storeproof.adapters.sqlite.table import Table
from storeproof.contract import Collection, Key, Layout, Record, Refused, Unsupported, Version
from storeproof.spec.interleaving import Isolation

_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
"""The names of what `PRAGMA synchronous` answers, by number."""


class Values(Table, records.Values):
    """Opaque values: also Conditional, Append."""

    columns: Mapping[str, str] = {"v": "BLOB NOT NULL"}

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._link.change(f"INSERT INTO {self._name} VALUES (?, ?) ON CONFLICT(k) DO NOTHING", key, record) == 1

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._link.change(f"UPDATE {self._name} SET v = ? WHERE k = ? AND v = ?", record, key, expected) == 1

    def append(self, key: Key, value: bytes) -> None:
        # `||` makes a text of two blobs, byte by byte.
        self._link.change(
            f"INSERT INTO {self._name} VALUES (?, ?) ON CONFLICT(k) DO UPDATE SET v = CAST(v || excluded.v AS BLOB)", key, value
        )


class Hashes(Table, records.Hashes):
    """Hashes: also FieldCounter."""

    bytes_type = "BLOB"

    def increment_field(self, key: Key, field: str, by: int) -> int:
        column = self._column(field)
        # What is no whole number, or one of more than 64 bits, is another text when it was read as one and written again.
        rows, _ = self._link.write(
            f"INSERT INTO {self._name} (k, {column}) VALUES (?1, CAST(CAST(?2 AS TEXT) AS BLOB)) ON CONFLICT(k) DO UPDATE "
            f"SET {column} = CAST(CAST(coalesce(CAST({column} AS INTEGER), 0) + ?2 AS TEXT) AS BLOB) "
            f"WHERE {column} IS NULL OR (CAST(CAST(CAST({column} AS INTEGER) AS TEXT) AS BLOB) = {column} "
            f"AND typeof(CAST({column} AS INTEGER) + ?2) = 'integer') RETURNING CAST({column} AS INTEGER)",
            key,
            by,
        )
        if not rows:
            raise Refused(f"{field} is not a 64-bit integer, or the sum would not be one")
        return cast(int, rows[0][0])


class Rows(Table, records.Rows):
    """Rows under the integer primary key."""

    columns: Mapping[str, str] = {"integer": "INTEGER NOT NULL", "real": "REAL NOT NULL"}


class Counters(Table, records.Counters):
    """Numbers: also Counter. A sum beyond 64 bits would become a real, and is refused instead."""

    columns: Mapping[str, str] = {"n": "INTEGER NOT NULL CHECK (typeof(n) = 'integer')"}

    def increment(self, key: Key, by: int) -> int:
        rows, _ = self._link.write(
            f"INSERT INTO {self._name} VALUES (?, ?) ON CONFLICT(k) DO UPDATE SET n = n + excluded.n RETURNING n", key, by
        )
        return cast(int, rows[0][0])


class SQLite:
    tables: Mapping[str, type[Table | Items]] = {
        "value": Values,
        "hash": Hashes,
        "document": Documents,
        "row": Rows,
        "counter": Counters,
        "list": Queues,
        "set": Sets,
        "ranking": Rankings,
    }
    """By kind of record."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def version(self) -> Version:
        return Version("SQLite", self._link.read("SELECT sqlite_version()")[0][0])

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return {name: self._pragma(name) for name in names}

    def _pragma(self, name: str) -> str:
        value = self._link.read(f"PRAGMA {name}")[0][0]
        return _SYNCHRONOUS[value] if name == "synchronous" else str(value)

    def collection(self, layout: Layout) -> Collection:
        kind = layout.model.record.kind
        if kind not in self.tables:
            raise Unsupported(f"the adapter has no table for records of the kind {kind}")
        if layout.model.decimals:
            raise Unsupported("SQLite has integers and doubles, but no exact decimals")
        if layout.indexes and not layout.indexed:
            raise Unsupported(f"{layout.model.model} has no field that an index could be on")
        return cast(Collection, self.tables[kind](self._link, layout))

    def begin(self, isolation: Isolation) -> None:  # noqa: ARG002
        # SQLite has one isolation, which is serializable: a transaction writes only if what it has read is still the latest.
        self._link.lead("begin")

    def commit(self) -> None:
        self._link.lead("commit")

    def rollback(self) -> None:
        self._link.lead("rollback")

    def compact(self) -> str:
        """A checkpoint of the write-ahead log, which is then empty; where there is none, VACUUM, which rewrites the file."""
        if self._pragma("journal_mode") != "wal":
            self._link.write("VACUUM")
            return "VACUUM"
        command = "PRAGMA wal_checkpoint(TRUNCATE)"
        if self._link.write(command)[0][0][0]:  # the first column: whether another connection was in the way
            raise Refused(f"{command}: busy")
        return command

    def close(self) -> None:
        self._link.close()
