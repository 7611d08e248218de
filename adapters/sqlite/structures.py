"""Lists, sets and rankings: a row for each item, so that a record without items does not exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from storeproof.adapters.sql import structures
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.table import DIALECT, count_indexes
from storeproof.contract import Key, Layout


class Items(structures.Items):
    dialect = DIALECT
    _link: Link
    columns: str
    """Behind the key, with the constraints of the table."""
    indexes: Sequence[str] = ()
    """The columns of each."""

    def prepare(self) -> None:
        statements = [f"CREATE TABLE IF NOT EXISTS {self._name} (k TEXT NOT NULL, {self.columns}) WITHOUT ROWID"]
        for number, columns in enumerate(self.indexes):
            statements.append(f'CREATE INDEX IF NOT EXISTS "{self._layout.name}_{number}" ON {self._name} ({columns})')
        self._link.write_all([(statement, ()) for statement in statements])

    def clear(self) -> None:
        self._link.drop([f"DROP TABLE IF EXISTS {self._name}"])

    def describe(self) -> Mapping[str, str]:
        return count_indexes(self._link, self._layout)

    def _replace(self, key: Key, rows: Sequence[Sequence[Any]]) -> None:
        inserts = [(f"INSERT INTO {self._name} VALUES (?{', ?' * len(row)})", (key, *row)) for row in rows]
        self._link.write_all([(f"DELETE {self._of_key}", (key,)), *inserts])


class Queues(Items, structures.Lists):
    columns = "place INTEGER NOT NULL, item BLOB NOT NULL, PRIMARY KEY (k, place)"

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._first, self._last = (f"(SELECT {end}(place) FROM {self._name} WHERE k = ?1)" for end in ("min", "max"))

    def push_back(self, key: Key, item: bytes) -> int:
        return self._push(key, f"coalesce({self._last} + 1, 0)", item)

    def push_front(self, key: Key, item: bytes) -> int:
        return self._push(key, f"coalesce({self._first} - 1, 0)", item)

    def pop_front(self, key: Key) -> bytes | None:
        return self._pop(key, self._first)

    def pop_back(self, key: Key) -> bytes | None:
        return self._pop(key, self._last)

    def _push(self, key: Key, place: str, item: bytes) -> int:
        length = f"SELECT {self._last} - {self._first} + 1"
        rows = self._link.write_all([(f"INSERT INTO {self._name} VALUES (?1, {place}, ?2)", (key, item)), (length, (key,))])
        return cast(int, rows[0][0])

    def _pop(self, key: Key, place: str) -> bytes | None:
        rows, _ = self._link.write(f"DELETE FROM {self._name} WHERE k = ?1 AND place = {place} RETURNING item", key)
        return cast(bytes, rows[0][0]) if rows else None


class Sets(Items, structures.Sets):
    columns = "member TEXT NOT NULL, PRIMARY KEY (k, member)"


class Rankings(Items, structures.Rankings):
    """Members with scores. A score beyond all numbers is refused."""

    columns = "member TEXT NOT NULL, score REAL NOT NULL CHECK (abs(score) < 9e999), PRIMARY KEY (k, member)"
    indexes = ("k, score, member",)

    def set_score(self, key: Key, member: str, score: float) -> bool:
        there = f"SELECT NOT EXISTS (SELECT 1 {self._of_member})"
        upsert = f"{self._insert} ON CONFLICT DO UPDATE SET score = excluded.score"
        return bool(self._link.write_all([(there, (key, member)), (upsert, (key, member, score))])[0][0])

    def add_score(self, key: Key, member: str, by: float) -> float:
        # RETURNING gives a whole real as an integer, as it is stored.
        upsert = f"{self._insert} ON CONFLICT DO UPDATE SET score = score + excluded.score"
        return cast(float, self._link.write(f"{upsert} RETURNING CAST(score AS REAL)", key, member, by)[0][0][0])
