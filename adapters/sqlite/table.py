"""Tables of SQLite with one row for each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from storeproof.adapters.sql.dialect import Dialect
from storeproof.adapters.sqlite.feed import Followed
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.query_filter import after
from storeproof.contract import Key, Layout, Record, Refused


class _Dialect(Dialect):
    mark = "?"

    def column(self, name: str) -> str:
        return name

    def upsert(self, columns: Sequence[str]) -> str:
        return f" ON CONFLICT(k) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in columns)}"

    def text(self, text: str, what: str) -> str:  # noqa: ARG002
        return text

    def to_text(self, stored: Any) -> str:
        text: str = stored
        return text


DIALECT: Final = _Dialect()


class Table(Followed):
    """What they share: also BatchWrite, BatchInsert, Swap, Prefix."""

    dialect = DIALECT
    unsupported_because: Mapping[str, str] = {
        **dict.fromkeys(("Expiry", "ExpiryControl", "SweptExpiry"), "SQLite has no expiry of rows"),
        "Procedures": "SQLite has no stored procedures",
    }

    def prepare(self) -> None:
        self._link.write_all([(statement, ()) for statement in self.definitions()])

    def definitions(self) -> list[str]:
        """The statements that create the table, first of all, and its indexes."""
        key = "TEXT NOT NULL PRIMARY KEY" if self._text_keys else "INTEGER PRIMARY KEY"
        return [
            f"CREATE TABLE IF NOT EXISTS {self._name} (k {key}, {self.typed_columns()})",
            *(
                f'CREATE INDEX IF NOT EXISTS "{self._layout.name}_{number}" ON {self._name} ({self.indexed(path)})'
                for number, path in enumerate(self._layout.indexed)
            ),
        ]

    def typed_columns(self) -> str:
        """Names and types of the columns behind the key."""
        return ", ".join(f"{name} {kind}" for name, kind in self.columns.items())

    def clear(self) -> None:
        self._link.drop([f"DROP TABLE IF EXISTS {self._name}", *self._unfollowed()])

    def describe(self) -> Mapping[str, str]:
        return count_indexes(self._link, self._layout)

    def get(self, key: Key) -> Record | None:
        rows = self._link.read(f"{self._list} WHERE k = ?", key)
        return self.decode(rows[0][1:]) if rows else None

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if records:
            self._link.write_all([(self._put, (key, *self.encode(record))) for key, record in records.items()])

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """An INSERT of each in one transaction, which the first key that is there undoes."""
        try:
            if records:
                self._link.write_all([(self._insert, (key, *self.encode(record))) for key, record in records.items()])
        except Refused as reason:
            if str(reason).endswith(f"UNIQUE constraint failed: {self._layout.name}.k"):
                return False
            raise
        return True

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        rows = self._link.write_all([(f"{self._list} WHERE k = ?", (key,)), (self._put, (key, *self.encode(record)))])
        return self.decode(rows[0][1:]) if rows else None

    def indexed(self, path: tuple[str, ...]) -> str:
        """The column or expression that an index on the path covers."""
        return path[0]

    def _prefixed(self, prefix: str) -> tuple[str, Sequence[Any]]:
        beyond = after(prefix)
        return ("k >= ?", (prefix,)) if beyond is None else ("k >= ? AND k < ?", (prefix, beyond))


def count_indexes(link: Link, layout: Layout) -> dict[str, str]:
    """The description of a table: the number of indexes that were made for it."""
    rows = link.read("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", layout.name)
    return {"indexes": str(rows[0][0])}
