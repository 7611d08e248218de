"""Whole records, one row each: the key, and the record in the columns behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.adapters.sql.dialect import Link
from storeproof.adapters.sql.table import Table
from storeproof.contract import Cursor, Key, Layout, Record, Refused, Row, Unsupported


class Records(Table):
    """KeyValue, Count, BatchRead, Ordered, Walk."""

    columns: Mapping[str, str]
    """Names and types of the columns behind the key."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        dialect, kinds = self.dialect, list(self.columns.values())
        self._names = [dialect.column(name) for name in self.columns]
        self._selected = ", ".join(dialect.selected(name, kind) for name, kind in self.columns.items())
        self._row = f"({dialect.mark}, {dialect.placeholders(kinds)})"
        self._insert = f"INSERT INTO {self._name} (k, {', '.join(self._names)}) VALUES {self._row}"
        self._put = self._insert + self._upsert(self._names)
        self._get = f"SELECT {self._selected} {self._of_key}"
        self._list = f"SELECT k, {self._selected} FROM {self._name}"

    def encode(self, record: Any) -> Sequence[Any]:
        raise NotImplementedError

    def decode(self, columns: Sequence[Any]) -> Any:
        raise NotImplementedError

    def get(self, key: Key) -> Record | None:
        rows = self._link.read(self._get, self._key(key))
        return self.decode(rows[0]) if rows else None

    def put(self, key: Key, record: Record) -> None:
        self._link.change(self._put, self._key(key), *self.encode(record))

    def count(self) -> int:
        number: int = self._one(f"SELECT COUNT(*) FROM {self._name}")
        return number

    def get_many(self, keys: Sequence[Key]) -> list[Record | None]:
        if not keys:
            return []
        wanted = [self._key(key) for key in keys]
        found = {row[0]: self.decode(row[1:]) for row in self._rows_of(wanted)}
        return [found.get(key) for key in wanted]

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        where = "" if start is None else f" WHERE k {'<=' if backwards else '>='} {self.dialect.mark}"
        values = () if start is None else (self._key(start),)
        return self._listed(f"{where} ORDER BY k{' DESC' if backwards else ''}", *values, count=count)

    def scan_prefix(self, prefix: str, count: int) -> list[tuple[Key, Record]]:
        if not self._text_keys:
            raise Unsupported("keys that are numbers have no prefixes")
        condition, values = self._prefixed(prefix)
        return self._listed(f" WHERE {condition} ORDER BY k", *values, count=count)

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, list[Key]]:
        where = "" if cursor is None else f" WHERE k > {self.dialect.mark}"
        values = () if cursor is None else (self._key(cursor),)
        statement = f"SELECT k FROM {self._name}{where} ORDER BY k LIMIT {self.dialect.mark}"
        keys = [self._key_of(row[0]) for row in self._link.read(statement, *values, self.dialect.integer(count))]
        return keys[-1] if len(keys) == count else None, keys

    def _upsert(self, names: Sequence[str]) -> str:
        return self.dialect.upsert(names)

    def _rows_of(self, keys: Sequence[Any]) -> Sequence[Sequence[Any]]:
        """Keys and columns of the records that are there, of these keys."""
        return self._link.read(f"{self._list} WHERE k IN ({self.dialect.marks(len(keys))})", *keys)

    def _prefixed(self, prefix: str) -> tuple[str, Sequence[Any]]:
        """The condition on keys that begin with a text, which an index serves, and its values."""
        raise NotImplementedError

    def _listed(self, which: str, *values: Any, count: int) -> list[tuple[Key, Record]]:
        rows = self._link.read(f"{self._list}{which} LIMIT {self.dialect.mark}", *values, self.dialect.integer(count))
        return [(self._key_of(row[0]), self.decode(row[1:])) for row in rows]


class Values(Records):
    """Opaque values: one column."""

    def encode(self, record: bytes) -> Sequence[Any]:
        return (record,)

    def decode(self, columns: Sequence[Any]) -> bytes:
        value: bytes = columns[0]
        return value


class Rows(Records):
    """A whole number and a double."""

    def encode(self, record: Row) -> Sequence[Any]:
        return record

    def decode(self, columns: Sequence[Any]) -> Row:
        return Row(columns[0], columns[1])


class Counters(Records):
    """Numbers: one column."""

    def encode(self, record: int) -> Sequence[Any]:
        return (self.dialect.integer(record),)

    def decode(self, columns: Sequence[Any]) -> int:
        number: int = columns[0]
        return number


class Hashes(Records):
    """Hashes, one nullable column a field: also Fields, SeveralFields. A field that is not there is NULL."""

    bytes_type: str
    """The type of a column for any bytes."""

    def __init__(self, link: Link, layout: Layout) -> None:
        self.columns = dict.fromkeys(layout.model.record.fields, self.bytes_type)  # type: ignore[union-attr]  # it is a hash
        super().__init__(link, layout)

    def encode(self, record: dict[str, bytes]) -> Sequence[Any]:
        for field in record:
            self._column(field)
        return [record.get(name) for name in self.columns]

    def decode(self, columns: Sequence[bytes | None]) -> dict[str, bytes]:
        return {name: value for name, value in zip(self.columns, columns, strict=True) if value is not None}

    def get_field(self, key: Key, field: str) -> bytes | None:
        return self.get_fields(key, [field])[0]

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        self.set_fields(key, {field: value})

    def get_fields(self, key: Key, fields: Sequence[str]) -> list[bytes | None]:
        if not fields:
            return []
        rows = self._link.read(f"SELECT {', '.join(map(self._column, fields))} {self._of_key}", self._key(key))
        return list(rows[0]) if rows else [None] * len(fields)

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        if not values:
            return
        columns, marks = [self._column(field) for field in values], ", ".join([self.dialect.mark] * (1 + len(values)))
        upsert = self.dialect.upsert(columns)
        self._link.change(f"INSERT INTO {self._name} (k, {', '.join(columns)}) VALUES ({marks}){upsert}", self._key(key), *values.values())

    def delete_field(self, key: Key, field: str) -> bool:
        column, mark = self._column(field), self.dialect.mark
        return self._link.change(f"UPDATE {self._name} SET {column} = NULL WHERE k = {mark} AND {column} IS NOT NULL", self._key(key)) == 1

    def _column(self, field: str) -> str:
        if field not in self.columns:
            raise Refused(f"the table has no column `{field}`; the statement was not sent")
        return self.dialect.column(field)
