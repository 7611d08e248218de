"""What all collections with one row for each record share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from storeproof.adapters.sqlite.feed import Followed
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.query_filter import after
from storeproof.contract import Cursor, Key, Layout, Record, Unsupported


class Table(Followed):
    """What all collections share: one table with the key `k`, and the record in the columns that follow."""

    unsupported_because: Mapping[str, str] = {
        **dict.fromkeys(("Expiry", "ExpiryControl"), "a row of SQLite ends when it is deleted, and nothing in SQLite deletes by the clock"),
        "Procedures": "SQLite keeps no procedures: the program is the application",
    }
    columns: tuple[tuple[str, str], ...]
    """Names and types of the columns behind the key."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__()
        self._link = link
        self._layout = layout
        self._name = f'"{layout.name}"'
        names = [name for name, _ in self.columns]
        marks = ", ".join("?" * (len(names) + 1))
        self._upsert = f"INSERT INTO {self._name} (k, {', '.join(names)}) VALUES ({marks}) ON CONFLICT(k) DO UPDATE SET " + ", ".join(
            f"{name} = excluded.{name}" for name in names
        )
        self._select = f"SELECT k, {', '.join(names)} FROM {self._name}"

    def prepare(self) -> None:
        self._link.write_all([(statement, ()) for statement in self.definitions()])

    def definitions(self) -> list[str]:
        """The statements that create the table, first of all, and its indexes."""
        key = "TEXT NOT NULL PRIMARY KEY" if self._layout.model.key == "text" else "INTEGER PRIMARY KEY"
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return [
            f"CREATE TABLE IF NOT EXISTS {self._name} (k {key}, {columns})",
            *(
                f'CREATE INDEX IF NOT EXISTS "{self._layout.name}_{number}" ON {self._name} ({self.indexed(path)})'
                for number, path in enumerate(self._layout.indexed)
            ),
        ]

    def clear(self) -> None:
        self._link.drop([f"DROP TABLE IF EXISTS {self._name}", *self._unfollowed()])

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

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        if self._layout.model.key != "text":
            raise Unsupported("numbers do not begin with a text")
        beyond = after(prefix)
        where, bounds = ("k >= ?", (prefix,)) if beyond is None else ("k >= ? AND k < ?", (prefix, beyond))
        rows = self._link.read(f"{self._select} WHERE {where} ORDER BY k LIMIT ?", *bounds, count)
        return [(key, self.decode(rest)) for key, *rest in rows]

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        where, bounds = ("", ()) if cursor is None else ("WHERE k > ?", (cursor,))
        rows = self._link.read(f"SELECT k FROM {self._name} {where} ORDER BY k LIMIT ?", *bounds, count)
        keys = [row[0] for row in rows]
        return keys[-1] if len(keys) == count else None, keys

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        rows = self._link.write_all([(f"{self._select} WHERE k = ?", (key,)), (self._upsert, (key, *self.encode(record)))])
        return self.decode(rows[0][1:]) if rows else None

    def indexed(self, path: tuple[str, ...]) -> str:
        """The column or expression that an index on the path covers."""
        return path[0]

    def encode(self, record: Any) -> Sequence[Any]:
        """The columns of a record."""
        raise NotImplementedError

    def decode(self, columns: Sequence[Any]) -> Any:
        """The record of the columns."""
        raise NotImplementedError
