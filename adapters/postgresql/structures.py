"""Lists, sets and rankings: a row for each item.

* A list is numbered: its own row knows the first number and the one beyond the last. Whoever adds or takes an item changes that row first,
  and so the others wait. A list stays when its last item was taken.
* A set and a ranking are their rows, and nothing is left without them. Whoever puts or removes all of them takes a lock of the key.
* Functions are needed where a statement must see what was committed while the one before it waited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.numeric import Float8, Int8

from storeproof.adapters.postgresql.link import Link
from storeproof.adapters.postgresql.table import Table, to_bytes
from storeproof.contract import Key, Layout


class Lists(Table):
    """KeyValue, Count, Queue."""

    functions = ("put", "pop_front", "pop_back")
    further = ("items",)

    def definitions(self) -> Sequence[str]:
        lists, items = self._table, self._own("items")
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
            f"SELECT ARRAY(SELECT item FROM {self._own('items')} AS i WHERE i.k = l.k ORDER BY place) FROM {self._table} AS l WHERE k = %s",
            self._key(key),
        )
        return items

    def put(self, key: Key, record: Sequence[bytes]) -> None:
        self._link.run(f"SELECT {self._own('put')}(%s, %s::bytea[])", (self._key(key), list(record)))

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
        self._link.run(
            f"SELECT item FROM {self._table} AS l JOIN {self._own('items')} AS i USING (k)"
            " WHERE k = %s AND place >= l.first + %s AND place < l.first + %s ORDER BY place",
            (self._key(key), Int8(start), Int8(stop)),
        )
        return [row[0] for row in self._link.rows()]

    def list_length(self, key: Key) -> int:
        return self._one(f"SELECT beyond - first FROM {self._table} WHERE k = %s", self._key(key)) or 0

    def _push(self, key: Key, item: bytes, changed: str, place: str) -> int:
        grown = f"INSERT INTO {self._table} AS l VALUES (%s, 0, 1) ON CONFLICT (k) DO UPDATE SET {changed} RETURNING k, first, beyond"
        kept = f"INSERT INTO {self._own('items')} SELECT k, {place}, %s::bytea FROM grown"
        length: int = self._one(f"WITH grown AS ({grown}), kept AS ({kept}) SELECT beyond - first FROM grown", self._key(key), item)
        return length

    def _taking(self, name: str, changed: str, outside: str) -> str:
        items = f"{self._own('items')} AS i USING {self._table} AS l"
        taken = (
            f"UPDATE {self._table} SET {changed} WHERE k = $1 AND first < beyond;"
            f" DELETE FROM {items} WHERE l.k = $1 AND i.k = $1 AND {outside} RETURNING item"
        )
        return self._new_function(name, "bytea", "bytea", "sql", taken)


class _Members(Table):
    """What sets and rankings share."""

    functions = ("put", "remove")

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str], columns: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        self._columns = {"member": "bytea", **columns}

    def definitions(self) -> Sequence[str]:
        columns = [f"{name} {kind} NOT NULL" for name, kind in self._columns.items()]
        arrays = ", ".join(f"${number}" for number in range(2, len(columns) + 2))
        locked = f"SELECT pg_advisory_xact_lock(hashtextextended('{self._layout.name} ' || encode($1, 'hex'), 0))"
        replaced = (
            f"{locked}; DELETE FROM {self._table} WHERE k = $1 AND member <> ALL ($2);"
            f" INSERT INTO {self._table} SELECT $1, r.* FROM unnest({arrays}) AS r ON CONFLICT (k, member) DO {self._kept}"
        )
        removed = f"{locked}; WITH gone AS (DELETE FROM {self._table} WHERE k = $1 RETURNING 1) SELECT count(*) > 0 FROM gone"
        return [
            self._new_table(self._table, f"k bytea, {', '.join(columns)}, PRIMARY KEY (k, member)"),
            self._new_function("put", ", ".join(["bytea", *(f"{kind}[]" for kind in self._columns.values())]), "void", "sql", replaced),
            self._new_function("remove", "bytea", "boolean", "sql", removed),
        ]

    @property
    def _kept(self) -> str:
        """What becomes of a member that stays."""
        return "NOTHING"

    def delete(self, key: Key) -> bool:
        was_there: bool = self._one(f"SELECT {self._own('remove')}(%s)", self._key(key))
        return was_there

    def count(self) -> int:
        number: int = self._one(f"SELECT count(DISTINCT k) FROM {self._table}")
        return number

    def _size(self, key: Key) -> int:
        number: int = self._one(f"SELECT count(*) FROM {self._table} WHERE k = %s", self._key(key))
        return number

    def _remove(self, key: Key, member: str) -> bool:
        return self._link.run(f"DELETE FROM {self._table} WHERE k = %s AND member = %s", self._of(key, member)) == 1

    def _of(self, key: Key, member: str) -> tuple[Any, bytes]:
        return self._key(key), to_bytes(member, "member")


class Sets(_Members):
    """KeyValue, Count, Members."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options, {})

    def get(self, key: Key) -> set[str] | None:
        members = self._one(f"SELECT array_agg(member) FROM {self._table} WHERE k = %s", self._key(key))
        return None if members is None else {member.decode() for member in members}

    def put(self, key: Key, record: set[str]) -> None:
        self._link.run(f"SELECT {self._own('put')}(%s, %s::bytea[])", (self._key(key), [to_bytes(each, "member") for each in record]))

    def add_member(self, key: Key, member: str) -> bool:
        return self._link.run(f"INSERT INTO {self._table} VALUES (%s, %s) ON CONFLICT DO NOTHING", self._of(key, member)) == 1

    def remove_member(self, key: Key, member: str) -> bool:
        return self._remove(key, member)

    def has_member(self, key: Key, member: str) -> bool:
        return self._link.run(f"SELECT 1 FROM {self._table} WHERE k = %s AND member = %s", self._of(key, member)) == 1

    def member_count(self, key: Key) -> int:
        return self._size(key)


class Rankings(_Members):
    """KeyValue, Count, Ranking, by an index in the order of the scores."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options, {"score": "double precision"})

    def definitions(self) -> Sequence[str]:
        return [*super().definitions(), f"CREATE INDEX IF NOT EXISTS {self._own('order')} ON {self._table} (k, score, member)"]

    @property
    def _kept(self) -> str:
        return "UPDATE SET score = EXCLUDED.score"

    def get(self, key: Key) -> dict[str, float] | None:
        self._link.run(f"SELECT member, score FROM {self._table} WHERE k = %s", (self._key(key),))
        return self._decoded() or None

    def put(self, key: Key, record: Mapping[str, float]) -> None:
        members = [to_bytes(member, "member") for member in record]
        values = (self._key(key), members, list(record.values()))
        self._link.run(f"SELECT {self._own('put')}(%s, %s::bytea[], %s::double precision[])", values)

    def set_score(self, key: Key, member: str, score: float) -> bool:
        # A row that was made has no xmax; one that was changed has that of the change.
        statement = f"INSERT INTO {self._table} VALUES (%s, %s, %s) ON CONFLICT (k, member) DO {self._kept} RETURNING xmax = 0"
        is_new: bool = self._one(statement, *self._of(key, member), Float8(score))
        return is_new

    def add_score(self, key: Key, member: str, by: float) -> float:
        changed = "ON CONFLICT (k, member) DO UPDATE SET score = r.score + EXCLUDED.score RETURNING score"
        total: float = self._one(f"INSERT INTO {self._table} AS r VALUES (%s, %s, %s) {changed}", *self._of(key, member), Float8(by))
        return total

    def remove_score(self, key: Key, member: str) -> bool:
        return self._remove(key, member)

    def score_of(self, key: Key, member: str) -> float | None:
        score: float | None = self._one(f"SELECT score FROM {self._table} WHERE k = %s AND member = %s", *self._of(key, member))
        return score

    def rank_of(self, key: Key, member: str) -> int | None:
        before = f"SELECT count(*) FROM {self._table} AS r WHERE r.k = own.k AND (r.score, r.member) > (own.score, own.member)"
        rank: int | None = self._one(f"SELECT ({before}) FROM {self._table} AS own WHERE k = %s AND member = %s", *self._of(key, member))
        return rank

    def top(self, key: Key, count: int) -> list[tuple[str, float]]:
        self._link.run(
            f"SELECT member, score FROM {self._table} WHERE k = %s ORDER BY score DESC, member DESC LIMIT %s", (self._key(key), Int8(count))
        )
        return list(self._decoded().items())

    def ranking_size(self, key: Key) -> int:
        return self._size(key)

    def _decoded(self) -> dict[str, float]:
        return {member.decode(): score for member, score in self._link.rows()}
