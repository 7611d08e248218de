"""Lists, sets and rankings: a row for each item, all under the record's key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storeproof.adapters.sql.dialect import Link
from storeproof.adapters.sql.table import Table
from storeproof.contract import Key, Layout


class Items(Table):
    def _replace(self, key: Key, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows, without their key, in place of those of a key; other sessions see all of it or nothing."""
        raise NotImplementedError

    def _size(self, key: Key) -> int:
        return int(self._one(f"SELECT COUNT(*) {self._of_key}", self._key(key)))


class Lists(Items):
    """KeyValue, Queue. The items are numbered without gaps, as they come and go at the ends only."""

    def get(self, key: Key) -> list[bytes] | None:
        return [row[0] for row in self._link.read(f"SELECT item {self._of_key} ORDER BY place", self._key(key))] or None

    def put(self, key: Key, record: list[bytes]) -> None:
        self._replace(key, list(enumerate(record)))

    def list_range(self, key: Key, start: int, stop: int) -> list[bytes]:
        mark = self.dialect.mark
        between = f"l.place >= first.place + {mark} AND l.place < first.place + {mark}"
        statement = (
            f"SELECT l.item FROM {self._name} AS l JOIN (SELECT MIN(place) AS place {self._of_key}) AS first ON {between}"
            f" WHERE l.k = {mark} ORDER BY l.place"
        )
        return [row[0] for row in self._link.read(statement, self._key(key), start, stop, self._key(key))]

    def list_length(self, key: Key) -> int:
        return int(self._one(f"SELECT COALESCE(MAX(place) - MIN(place) + 1, 0) {self._of_key}", self._key(key)))


class _Members(Items):
    """Items that are told apart by a text."""

    width = 1
    """Columns behind the key."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        mark = self.dialect.mark
        self._of_member = f"{self._of_key} AND member = {mark}"
        self._insert = f"INSERT INTO {self._name} VALUES ({self.dialect.marks(1 + self.width)})"

    def _there(self, key: Key, member: str) -> tuple[Any, Any]:
        return self._key(key), self.dialect.text(member, "member")

    def _remove(self, key: Key, member: str) -> bool:
        return self._link.change(f"DELETE {self._of_member}", *self._there(key, member)) == 1


class Sets(_Members):
    """KeyValue, Members."""

    def get(self, key: Key) -> set[str] | None:
        rows = self._link.read(f"SELECT member {self._of_key}", self._key(key))
        return {self.dialect.to_text(row[0]) for row in rows} or None

    def put(self, key: Key, record: set[str]) -> None:
        self._replace(key, [(self.dialect.text(member, "member"),) for member in sorted(record)])

    def add_member(self, key: Key, member: str) -> bool:
        return self._link.change(f"{self._insert} ON CONFLICT DO NOTHING", *self._there(key, member)) == 1

    def remove_member(self, key: Key, member: str) -> bool:
        return self._remove(key, member)

    def has_member(self, key: Key, member: str) -> bool:
        return bool(self._link.read(f"SELECT 1 {self._of_member}", *self._there(key, member)))

    def member_count(self, key: Key) -> int:
        return self._size(key)


class Rankings(_Members):
    """KeyValue, Ranking, by an index in the order of the scores."""

    width = 2

    def get(self, key: Key) -> dict[str, float] | None:
        return dict(self._scored(f"SELECT member, score {self._of_key}", self._key(key))) or None

    def put(self, key: Key, record: dict[str, float]) -> None:
        self._replace(key, [(self.dialect.text(member, "member"), float(score)) for member, score in sorted(record.items())])

    def remove_score(self, key: Key, member: str) -> bool:
        return self._remove(key, member)

    def score_of(self, key: Key, member: str) -> float | None:
        score = self._one(f"SELECT score {self._of_member}", *self._there(key, member))
        return None if score is None else float(score)

    def rank_of(self, key: Key, member: str) -> int | None:
        mark, above = self.dialect.mark, self.dialect.above(("o.score", "o.member"), ("r.score", "r.member"))
        before = f"SELECT COUNT(*) FROM {self._name} AS o WHERE o.k = r.k AND {above}"
        rank = self._one(f"SELECT ({before}) FROM {self._name} AS r WHERE k = {mark} AND member = {mark}", *self._there(key, member))
        return None if rank is None else int(rank)

    def top(self, key: Key, count: int) -> list[tuple[str, float]]:
        statement = f"SELECT member, score {self._of_key} ORDER BY score DESC, member DESC LIMIT {self.dialect.mark}"
        return self._scored(statement, self._key(key), self.dialect.integer(count))

    def ranking_size(self, key: Key) -> int:
        return self._size(key)

    def _scored(self, statement: str, *values: Any) -> list[tuple[str, float]]:
        return [(self.dialect.to_text(member), float(score)) for member, score in self._link.read(statement, *values)]
