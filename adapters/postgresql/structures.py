"""Lists, sets and rankings: a row for each item.

* A list is numbered: its own row knows the first number and the one beyond the last. A push or a pop changes that row first,
  and so others wait. A list stays when its last item was taken.
* A set and a ranking are their rows, and nothing is left without them. To put or remove all of them takes a lock of the key.
* Functions are needed where a statement must see what was committed while the one before it waited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.numeric import Float8, Int8

from storeproof.adapters.postgresql.table import Table
from storeproof.adapters.sql import structures
from storeproof.contract import Key


class Lists(Table):
    """KeyValue, Count, Queue."""

    functions = ("put", "pop_front", "pop_back")
    further = ("items",)

    def definitions(self) -> Sequence[str]:
        lists, items = self._name, self._own("items")
        of_list = "k bytea REFERENCES " + lists + " ON DELETE CASCADE, place bigint, item bytea NOT NULL, PRIMARY KEY (k, place)"
        replaced = (
            f"INSERT INTO {lists} VALUES ($1, 0, cardinality($2)) ON CONFLICT (k) DO UPDATE SET first = 0, beyond = EXCLUDED.beyond;"
            f" DELETE FROM {items} WHERE k = $1;"
            f" INSERT INTO {items} SELECT $1, number - 1, item FROM unnest($2) WITH ORDINALITY AS r (item, number)"
        )
        return [
            self._new_table(lists, "k bytea PRIMARY KEY, first bigint NOT NULL, beyond bigint NOT NULL"),
            self._new_table(items, of_list),
            self._new_function("put", "bytea, bytea[]", "void", "sql", replaced),
            self._taking("pop_front", "first = first + 1", "i.place < l.first"),
            self._taking("pop_back", "beyond = beyond - 1", "i.place >= l.beyond"),
        ]

    def get(self, key: Key) -> list[bytes] | None:
        items: list[bytes] | None = self._one(
            f"SELECT ARRAY(SELECT item FROM {self._own('items')} AS i WHERE i.k = l.k ORDER BY place) FROM {self._name} AS l WHERE k = %s",
            self._key(key),
        )
        return items

    def put(self, key: Key, record: Sequence[bytes]) -> None:
        self._link.read(f"SELECT {self._own('put')}(%s, %s::bytea[])", self._key(key), list(record))

    def push_back(self, key: Key, item: bytes) -> int:
        return self._push(key, item, "beyond = l.beyond + 1", "beyond - 1")

    def push_front(self, key: Key, item: bytes) -> int:
        return self._push(key, item, "first = l.first - 1", "first")

    def pop_front(self, key: Key) -> bytes | None:
        item: bytes | None = self._one(f"SELECT {self._own('pop_front')}(%s)", self._key(key))
        return item

    def pop_back(self, key: Key) -> bytes | None:
        item: bytes | None = self._one(f"SELECT {self._own('pop_back')}(%s)", self._key(key))
        return item

    def list_range(self, key: Key, start: int, stop: int) -> list[bytes]:
        rows = self._link.read(
            f"SELECT item FROM {self._name} AS l JOIN {self._own('items')} AS i USING (k)"
            " WHERE k = %s AND place >= l.first + %s AND place < l.first + %s ORDER BY place",
            self._key(key),
            Int8(start),
            Int8(stop),
        )
        return [row[0] for row in rows]

    def count(self) -> int:
        number: int = self._one(f"SELECT COUNT(*) FROM {self._name}")
        return number

    def list_length(self, key: Key) -> int:
        return self._one(f"SELECT beyond - first FROM {self._name} WHERE k = %s", self._key(key)) or 0

    def _push(self, key: Key, item: bytes, changed: str, place: str) -> int:
        grown = f"INSERT INTO {self._name} AS l VALUES (%s, 0, 1) ON CONFLICT (k) DO UPDATE SET {changed} RETURNING k, first, beyond"
        kept = f"INSERT INTO {self._own('items')} SELECT k, {place}, %s::bytea FROM grown"
        length: int = self._one(f"WITH grown AS ({grown}), kept AS ({kept}) SELECT beyond - first FROM grown", self._key(key), item)
        return length

    def _taking(self, name: str, changed: str, outside: str) -> str:
        items = f"{self._own('items')} AS i USING {self._name} AS l"
        taken = (
            f"UPDATE {self._name} SET {changed} WHERE k = $1 AND first < beyond;"
            f" DELETE FROM {items} WHERE l.k = $1 AND i.k = $1 AND {outside} RETURNING item"
        )
        return self._new_function(name, "bytea", "bytea", "sql", taken)


class _Members(Table, structures.Items):
    """What sets and rankings share."""

    functions = ("put", "remove")
    columns: Mapping[str, str] = {"member": "bytea"}
    _kept = "NOTHING"
    """What becomes of a member that stays."""

    def definitions(self) -> Sequence[str]:
        columns = [f"{name} {kind} NOT NULL" for name, kind in self.columns.items()]
        arrays = ", ".join(f"${number}" for number in range(2, len(columns) + 2))
        locked = f"SELECT pg_advisory_xact_lock(hashtextextended('{self._layout.name} ' || encode($1, 'hex'), 0))"
        replaced = (
            f"{locked}; DELETE FROM {self._name} WHERE k = $1 AND member <> ALL ($2);"
            f" INSERT INTO {self._name} SELECT $1, r.* FROM unnest({arrays}) AS r ON CONFLICT (k, member) DO {self._kept}"
        )
        removed = f"{locked}; WITH gone AS (DELETE FROM {self._name} WHERE k = $1 RETURNING 1) SELECT count(*) > 0 FROM gone"
        return [
            self._new_table(self._name, f"k bytea, {', '.join(columns)}, PRIMARY KEY (k, member)"),
            self._new_function("put", ", ".join(["bytea", *(f"{kind}[]" for kind in self.columns.values())]), "void", "sql", replaced),
            self._new_function("remove", "bytea", "boolean", "sql", removed),
        ]

    def delete(self, key: Key) -> bool:
        was_there: bool = self._one(f"SELECT {self._own('remove')}(%s)", self._key(key))
        return was_there

    def count(self) -> int:
        number: int = self._one(f"SELECT count(DISTINCT k) FROM {self._name}")
        return number

    def _replace(self, key: Key, rows: Sequence[Sequence[Any]]) -> None:
        columns = [[row[place] for row in rows] for place in range(len(self.columns))]
        arrays = ", ".join(f"%s::{kind}[]" for kind in self.columns.values())
        self._link.read(f"SELECT {self._own('put')}(%s, {arrays})", self._key(key), *columns)


class Sets(_Members, structures.Sets):
    """KeyValue, Count, Members."""


class Rankings(_Members, structures.Rankings):
    """KeyValue, Count, Ranking."""

    columns: Mapping[str, str] = {**_Members.columns, "score": "double precision"}
    _kept = "UPDATE SET score = EXCLUDED.score"

    def definitions(self) -> Sequence[str]:
        return [*super().definitions(), f"CREATE INDEX IF NOT EXISTS {self._own('order')} ON {self._name} (k, score, member)"]

    def set_score(self, key: Key, member: str, score: float) -> bool:
        # A row that was made has no xmax; one that was changed has that of the change.
        statement = f"{self._insert} ON CONFLICT (k, member) DO {self._kept} RETURNING xmax = 0"
        is_new: bool = self._one(statement, *self._there(key, member), Float8(score))
        return is_new

    def add_score(self, key: Key, member: str, by: float) -> float:
        changed = "ON CONFLICT (k, member) DO UPDATE SET score = r.score + EXCLUDED.score RETURNING score"
        total: float = self._one(f"INSERT INTO {self._name} AS r VALUES (%s, %s, %s) {changed}", *self._there(key, member), Float8(by))
        return total
