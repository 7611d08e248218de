"""Lists, sets and rankings: a row for each item, so that a record without items is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from storeproof.adapters.sqlite.link import Link
from storeproof.contract import Key, Layout, Record


class Items:
    """What they share: a table with the key `k` in the rows of all items of a record."""

    columns: str
    """Behind the key, with the constraints of the table."""
    order: str
    """Of the items in a record."""
    indexes: Sequence[str] = ()
    """The columns of each."""

    def __init__(self, link: Link, layout: Layout) -> None:
        self._link = link
        self._layout = layout
        self._name = f'"{layout.name}"'

    def prepare(self) -> None:
        statements = [f"CREATE TABLE IF NOT EXISTS {self._name} (k TEXT NOT NULL, {self.columns}) WITHOUT ROWID"]
        for number, columns in enumerate(self.indexes):
            statements.append(f'CREATE INDEX IF NOT EXISTS "{self._layout.name}_{number}" ON {self._name} ({columns})')
        self._link.write_all([(statement, ()) for statement in statements])

    def clear(self) -> None:
        self._link.drop([f"DROP TABLE IF EXISTS {self._name}"])

    def describe(self) -> Mapping[str, str]:
        rows = self._link.read(
            "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", self._layout.name
        )
        return {"indexes": str(rows[0][0])}

    def get(self, key: Key) -> Record | None:
        rows = self._link.read(f"SELECT * FROM {self._name} WHERE k = ? ORDER BY {self.order}", key)
        return self.decode([row[1:] for row in rows]) if rows else None

    def put(self, key: Key, record: Record) -> None:
        rows = self.encode(record)
        inserts = [(f"INSERT INTO {self._name} VALUES (?{', ?' * len(row)})", (key, *row)) for row in rows]
        self._link.write_all([(f"DELETE FROM {self._name} WHERE k = ?", (key,)), *inserts])

    def delete(self, key: Key) -> bool:
        return self._link.write(f"DELETE FROM {self._name} WHERE k = ?", key)[1] > 0

    def exists(self, key: Key) -> bool:
        return bool(self._link.read(f"SELECT 1 FROM {self._name} WHERE k = ? LIMIT 1", key))

    def _size(self, key: Key) -> int:
        return cast(int, self._link.read(f"SELECT count(*) FROM {self._name} WHERE k = ?", key)[0][0])

    def encode(self, record: Any) -> list[tuple[Any, ...]]:
        """The rows of a record, behind the key."""
        raise NotImplementedError

    def decode(self, rows: list[list[Any]]) -> Any:
        """The record of the rows."""
        raise NotImplementedError


class Queues(Items):
    """Lists. Items are added and taken at the ends only: their places have no gaps, and the first and the last tell the length."""

    columns = "place INTEGER NOT NULL, item BLOB NOT NULL, PRIMARY KEY (k, place)"
    order = "place"

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._first, self._last = (f"(SELECT {end}(place) FROM {self._name} WHERE k = ?1)" for end in ("min", "max"))
        self._length = f"SELECT coalesce({self._last} - {self._first} + 1, 0)"

    def encode(self, record: list[bytes]) -> list[tuple[Any, ...]]:
        return list(enumerate(record))

    def decode(self, rows: list[list[Any]]) -> list[bytes]:
        return [item for _, item in rows]

    def push_back(self, key: Key, item: bytes) -> int:
        return self._push(key, f"coalesce({self._last} + 1, 0)", item)

    def push_front(self, key: Key, item: bytes) -> int:
        return self._push(key, f"coalesce({self._first} - 1, 0)", item)

    def pop_front(self, key: Key) -> bytes | None:
        return self._pop(key, self._first)

    def pop_back(self, key: Key) -> bytes | None:
        return self._pop(key, self._last)

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        rows = self._link.read(
            f"SELECT item FROM {self._name} WHERE k = ?1 AND place >= {self._first} + ?2 AND place < {self._first} + ?3 ORDER BY place",
            key,
            start,
            stop,
        )
        return [row[0] for row in rows]

    def list_length(self, key: Key) -> int:
        return cast(int, self._link.read(self._length, key)[0][0])

    def _push(self, key: Key, place: str, item: bytes) -> int:
        rows = self._link.write_all([(f"INSERT INTO {self._name} VALUES (?1, {place}, ?2)", (key, item)), (self._length, (key,))])
        return cast(int, rows[0][0])

    def _pop(self, key: Key, place: str) -> bytes | None:
        rows, _ = self._link.write(f"DELETE FROM {self._name} WHERE k = ?1 AND place = {place} RETURNING item", key)
        return cast(bytes, rows[0][0]) if rows else None


class Sets(Items):
    """Sets of text."""

    columns = "member TEXT NOT NULL, PRIMARY KEY (k, member)"
    order = "member"

    def encode(self, record: set[str]) -> list[tuple[Any, ...]]:
        return [(member,) for member in record]

    def decode(self, rows: list[list[Any]]) -> set[str]:
        return {member for (member,) in rows}

    def add_member(self, key: Key, member: str) -> bool:
        return self._link.write(f"INSERT INTO {self._name} VALUES (?, ?) ON CONFLICT DO NOTHING", key, member)[1] == 1

    def remove_member(self, key: Key, member: str) -> bool:
        return self._link.write(f"DELETE FROM {self._name} WHERE k = ? AND member = ?", key, member)[1] == 1

    def has_member(self, key: Key, member: str) -> bool:
        return bool(self._link.read(f"SELECT 1 FROM {self._name} WHERE k = ? AND member = ?", key, member))

    def member_count(self, key: Key) -> int:
        return self._size(key)


class Rankings(Items):
    """Members with scores, and an index in the order of the scores. A score beyond all numbers is refused."""

    columns = "member TEXT NOT NULL, score REAL NOT NULL CHECK (abs(score) < 9e999), PRIMARY KEY (k, member)"
    order = "score, member"
    indexes = ("k, score, member",)

    def encode(self, record: dict[str, float]) -> list[tuple[Any, ...]]:
        return list(record.items())

    def decode(self, rows: list[list[Any]]) -> dict[str, float]:
        return dict(cast(list[tuple[str, float]], rows))

    def set_score(self, key: Key, member: str, score: float) -> bool:
        there = f"SELECT NOT EXISTS (SELECT 1 FROM {self._name} WHERE k = ? AND member = ?)"
        upsert = f"INSERT INTO {self._name} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET score = excluded.score"
        return bool(self._link.write_all([(there, (key, member)), (upsert, (key, member, score))])[0][0])

    def add_score(self, key: Key, member: str, by: float) -> float:
        # RETURNING gives a whole real as an integer, as it is stored.
        upsert = f"INSERT INTO {self._name} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET score = score + excluded.score"
        return cast(float, self._link.write(f"{upsert} RETURNING CAST(score AS REAL)", key, member, by)[0][0][0])

    def remove_score(self, key: Key, member: str) -> bool:
        return self._link.write(f"DELETE FROM {self._name} WHERE k = ? AND member = ?", key, member)[1] == 1

    def score_of(self, key: Key, member: str) -> float | None:
        rows = self._link.read(f"SELECT score FROM {self._name} WHERE k = ? AND member = ?", key, member)
        return cast(float, rows[0][0]) if rows else None

    def rank_of(self, key: Key, member: str) -> int | None:
        before = f"SELECT count(*) FROM {self._name} AS other WHERE other.k = ?1 AND (other.score, other.member) > (one.score, one.member)"
        rows = self._link.read(f"SELECT ({before}) FROM {self._name} AS one WHERE k = ?1 AND member = ?2", key, member)
        return cast(int, rows[0][0]) if rows else None

    def top(self, key: Key, count: int) -> Sequence[tuple[str, float]]:
        rows = self._link.read(f"SELECT member, score FROM {self._name} WHERE k = ? ORDER BY score DESC, member DESC LIMIT ?", key, count)
        return [(member, score) for member, score in rows]

    def ranking_size(self, key: Key) -> int:
        return self._size(key)
