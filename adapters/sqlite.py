"""SQLite, through the process that hosts it (`sqlite_host`)."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgpack

import storeproof.adapters.sqlite_query as sqlite_query
from storeproof.adapters.sqlite_query_filter import at, json_path
from storeproof.contract import (
    MISSING,
    Address,
    Collection,
    Found,
    Json,
    Key,
    Layout,
    Missing,
    Path,
    Record,
    Refused,
    Row,
    Unknown,
    Unsupported,
    Version,
)
from storeproof.spec.query import Aggregation, Browse, Query, Where

_LENGTH = struct.Struct(">I")
_TIMEOUT_SECONDS = 10.0
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
"""The names of what `PRAGMA synchronous` answers, by number."""


class Link:
    """One connection to the host."""

    def __init__(self, address: Address) -> None:
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout=_TIMEOUT_SECONDS)
        except OSError as reason:
            raise Unknown(f"the host of SQLite does not answer: {reason}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb", buffering=65536)

    def read(self, statement: str, *parameters: Any) -> list[list[Any]]:
        """The rows that a statement finds."""
        return cast(list[list[Any]], self._ask([False, [[statement, parameters]]])[0])

    def write(self, statement: str, *parameters: Any) -> tuple[list[list[Any]], int]:
        """Run one statement as a transaction; the rows it returns and the number of rows it changed."""
        rows, changes = self._ask([True, [[statement, parameters]]])
        return rows, changes

    def write_all(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Run all statements as one transaction, in one request."""
        self._ask([True, statements])

    def close(self) -> None:
        """End the connection."""
        self._replies.close()
        self._socket.close()

    def _ask(self, request: list[Any]) -> list[Any]:
        try:
            body = msgpack.packb(request, use_bin_type=True)
        except (UnicodeEncodeError, OverflowError, ValueError) as reason:
            raise Refused(f"cannot be sent: {reason}") from None
        try:
            self._socket.sendall(_LENGTH.pack(len(body)) + body)
            head = self._replies.read(_LENGTH.size)
            answer = self._replies.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
        except (OSError, ValueError) as reason:
            raise Unknown(f"connection lost: {reason}") from None
        if not answer:
            raise Unknown("connection lost: the host ended")
        status, *rest = msgpack.unpackb(answer, raw=False)
        if status == 0:
            return cast(list[Any], rest)
        kind, message = rest
        raise (Unknown if kind == "unknown" else Refused)(message)


class Table:
    """What all collections share: one table with the key `k`, and the record in the columns that follow."""

    columns: tuple[tuple[str, str], ...]
    """Names and types of the columns behind the key."""

    def __init__(self, link: Link, layout: Layout) -> None:
        self._link = link
        self._layout = layout
        self._name = f'"{layout.name}"'
        names = [name for name, _ in self.columns]
        marks = ", ".join("?" * (len(names) + 1))
        self._upsert = f"INSERT INTO {self._name} VALUES ({marks}) ON CONFLICT(k) DO UPDATE SET " + ", ".join(
            f"{name} = excluded.{name}" for name in names
        )
        self._select = f"SELECT k, {', '.join(names)} FROM {self._name}"

    def prepare(self) -> None:
        key = "TEXT NOT NULL PRIMARY KEY" if self._layout.model.key == "text" else "INTEGER PRIMARY KEY"
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        statements = [f"CREATE TABLE IF NOT EXISTS {self._name} (k {key}, {columns})"]
        for number, path in enumerate(self._layout.indexed):
            statements.append(f'CREATE INDEX IF NOT EXISTS "{self._layout.name}_{number}" ON {self._name} ({self.indexed(path)})')
        self._link.write_all([(statement, ()) for statement in statements])

    def clear(self) -> None:
        self._link.write(f"DROP TABLE IF EXISTS {self._name}")

    def describe(self) -> Mapping[str, str]:
        rows = self._link.read(
            "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", self._layout.name
        )
        return {"indexes": str(rows[0][0])}

    def get(self, key: Key) -> Record | None:
        rows = self._link.read(f"{self._select} WHERE k = ?", key)
        return self.decode(rows[0][1:]) if rows else None

    def put(self, key: Key, record: Record) -> None:
        self._link.write(self._upsert, key, *self.encode(record))

    def delete(self, key: Key) -> bool:
        return self._link.write(f"DELETE FROM {self._name} WHERE k = ?", key)[1] == 1

    def exists(self, key: Key) -> bool:
        return bool(self._link.read(f"SELECT 1 FROM {self._name} WHERE k = ?", key))

    def count(self) -> int:
        return cast(int, self._link.read(f"SELECT count(*) FROM {self._name}")[0][0])

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        if not keys:
            return []
        wanted = list(dict.fromkeys(keys))
        rows = self._link.read(f"{self._select} WHERE k IN ({', '.join('?' * len(wanted))})", *wanted)
        found = {key: self.decode(rest) for key, *rest in rows}
        return [found.get(key) for key in keys]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if records:
            self._link.write_all([(self._upsert, (key, *self.encode(record))) for key, record in records.items()])

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        where = "" if start is None else f"WHERE k {'<=' if backwards else '>='} ?"
        order = "DESC" if backwards else "ASC"
        bounds = () if start is None else (start,)
        rows = self._link.read(f"{self._select} {where} ORDER BY k {order} LIMIT ?", *bounds, count)
        return [(key, self.decode(rest)) for key, *rest in rows]

    def indexed(self, path: tuple[str, ...]) -> str:
        """The column or expression that an index on the path covers."""
        return path[0]

    def encode(self, record: Any) -> Sequence[Any]:
        """The columns of a record."""
        raise NotImplementedError

    def decode(self, columns: Sequence[Any]) -> Any:
        """The record of the columns."""
        raise NotImplementedError


class Values(Table):
    """Opaque values."""

    columns = (("v", "BLOB NOT NULL"),)

    def encode(self, record: bytes) -> Sequence[Any]:
        return (record,)

    def decode(self, columns: Sequence[Any]) -> bytes:
        return cast(bytes, columns[0])

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._link.write(f"INSERT INTO {self._name} VALUES (?, ?) ON CONFLICT(k) DO NOTHING", key, record)[1] == 1

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._link.write(f"UPDATE {self._name} SET v = ? WHERE k = ? AND v = ?", record, key, expected)[1] == 1


class Hashes(Table):
    """Hashes: a column for each field; a field that is not there is NULL."""

    def __init__(self, link: Link, layout: Layout) -> None:
        self._fields: tuple[str, ...] = layout.model.record.fields  # type: ignore[union-attr]
        self.columns = tuple((field, "BLOB") for field in self._fields)
        super().__init__(link, layout)

    def encode(self, record: dict[str, bytes]) -> Sequence[Any]:
        for field in record:
            self._known(field)
        return [record.get(field) for field in self._fields]

    def decode(self, columns: Sequence[Any]) -> dict[str, bytes]:
        return {field: value for field, value in zip(self._fields, columns, strict=True) if value is not None}

    def get_field(self, key: Key, field: str) -> bytes | None:
        rows = self._link.read(f"SELECT {self._known(field)} FROM {self._name} WHERE k = ?", key)
        return rows[0][0] if rows else None

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        column = self._known(field)
        self._link.write(
            f"INSERT INTO {self._name} (k, {column}) VALUES (?, ?) ON CONFLICT(k) DO UPDATE SET {column} = excluded.{column}",
            key,
            value,
        )

    def delete_field(self, key: Key, field: str) -> bool:
        column = self._known(field)
        return self._link.write(f"UPDATE {self._name} SET {column} = NULL WHERE k = ? AND {column} IS NOT NULL", key)[1] == 1

    def _known(self, field: str) -> str:
        if field not in self._fields:
            raise Refused(f"the table has no column {field!r}")
        return field


class Documents(Table):
    """JSON documents, kept as text and worked on by SQLite's JSON functions."""

    columns = (("doc", "TEXT NOT NULL CHECK (json_valid(doc))"),)

    def encode(self, record: dict[str, Json]) -> Sequence[Any]:
        try:
            return (json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False),)
        except (RecursionError, ValueError) as reason:
            raise Refused(f"cannot be written as JSON: {reason}") from None

    def decode(self, columns: Sequence[Any]) -> dict[str, Json]:
        return cast(dict[str, Json], json.loads(columns[0]))

    def indexed(self, path: tuple[str, ...]) -> str:
        return at(path).value

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        rows = self._link.read(f"SELECT doc -> ? FROM {self._name} WHERE k = ?", json_path(path), key)
        return cast(Json, json.loads(rows[0][0])) if rows and rows[0][0] is not None else MISSING

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        # json_set ignores a path whose parent is not there, so the statement answers whether it was.
        target, parent = json_path(path), json_path(path[:-1])
        there = "json_type(doc, ?3) IS NOT NULL" if isinstance(path[-1], int) else "json_type(doc, ?4) = 'object'"
        rows, _ = self._link.write(
            f"UPDATE {self._name} SET doc = CASE WHEN {there} THEN json_set(doc, ?3, json(?2)) ELSE doc END "
            f"WHERE k = ?1 RETURNING {there}, ?4",
            key,
            self.encode(value)[0],  # type: ignore[arg-type]
            target,
            parent,
        )
        if rows and not rows[0][0]:
            raise Refused(f"there is nothing at {parent} to set {path[-1]!r} in")
        return bool(rows)

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._link.write(f"UPDATE {self._name} SET doc = json_remove(doc, ?) WHERE k = ?", json_path(path), key)[1] == 1

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return sqlite_query.found_records(query, self._read(sqlite_query.find(self._name, query)))

    def count_where(self, where: Where) -> int:
        return cast(int, self._read(sqlite_query.count_where(self._name, where))[0][0])

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        return sqlite_query.found_groups(aggregation, self._read(sqlite_query.aggregate(self._name, aggregation)))

    def browse(self, browse: Browse) -> Found:
        return sqlite_query.found_page(browse, self._read(sqlite_query.browse(self._name, browse)))

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        encoded = self.encode(value)[0]  # type: ignore[arg-type]
        statement, parameters = sqlite_query.update_where(self._name, where, path, encoded)
        try:
            return self._link.write(statement, *parameters)[1]
        except Refused as reason:
            if "NOT NULL" in str(reason):
                raise Refused(f"in a record that matches there is nothing at {json_path(path[:-1])} to set {path[-1]!r} in") from None
            raise

    def delete_where(self, where: Where) -> int:
        statement, parameters = sqlite_query.delete_where(self._name, where)
        return self._link.write(statement, *parameters)[1]

    def _read(self, request: sqlite_query.Request) -> list[list[Any]]:
        statement, parameters = request
        return self._link.read(statement, *parameters)


class Rows(Table):
    """Rows under the integer primary key."""

    columns = (("integer", "INTEGER NOT NULL"), ("real", "REAL NOT NULL"))

    def encode(self, record: Row) -> Sequence[Any]:
        return record

    def decode(self, columns: Sequence[Any]) -> Row:
        return Row(columns[0], columns[1])


class Counters(Table):
    """Numbers; a sum beyond 64 bits would become a real, and is refused instead."""

    columns = (("n", "INTEGER NOT NULL CHECK (typeof(n) = 'integer')"),)

    def encode(self, record: int) -> Sequence[Any]:
        return (record,)

    def decode(self, columns: Sequence[Any]) -> int:
        return cast(int, columns[0])

    def increment(self, key: Key, by: int) -> int:
        rows, _ = self._link.write(
            f"INSERT INTO {self._name} VALUES (?, ?) ON CONFLICT(k) DO UPDATE SET n = n + excluded.n RETURNING n",
            key,
            by,
        )
        return cast(int, rows[0][0])


class SQLite:
    """A session."""

    tables: Mapping[str, type[Table]] = {"value": Values, "hash": Hashes, "document": Documents, "row": Rows, "counter": Counters}
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
            raise Unsupported(f"SQLite is given no table for a record of the kind {kind}")
        if layout.indexes and not layout.indexed:
            raise Unsupported(f"{layout.model.model} has no field that an index could be on")
        return cast(Collection, self.tables[kind](self._link, layout))

    def close(self) -> None:
        self._link.close()


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    """Open a session with the hosting process."""
    if options:
        raise Refused(f"the SQLite adapter knows no options; found {', '.join(options)}")
    return SQLite(Link(address))
