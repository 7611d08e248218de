"""Lists, sets and rankings of MySQL and MariaDB: tables with a row for each item, all under the record's key.

A record without items has no rows, so that it is not there. The items of a list are numbered without gaps, as they come and go at its
ends only: its length is known from the first and the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymysql.constants import ER

from storeproof.adapters.mysql.link import Link, refused_with
from storeproof.adapters.mysql.table import KEY_BYTES, Table, keeping
from storeproof.contract import Key, Layout, Refused

_SCORE_BYTES = 24
"""Of an index's entry, for a score and the lengths of the others."""


class Parts(Table):
    """What lists, sets and rankings have: the removal of a whole record, and its replacement."""

    _columns: Sequence[str]
    """Behind the key, in the order in which a row is written."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        # A key, a member and a score are together in an index.
        longest = KEY_BYTES.get(self._engine, 3072)
        self._key_type = f"VARBINARY({longest // 3})"
        self._member_type = f"VARBINARY({longest - longest // 3 - _SCORE_BYTES})"
        if self._engine == "ndbcluster":
            # All rows of a record in one partition: of several it locks the rows in no order, so that any two who change a record
            # at once wait for each other until the time is up.
            self._placed = " PARTITION BY KEY (k)"
        self._insert = f"INSERT INTO {self._table} (k, {', '.join(self._columns)})"

    def delete(self, key: Key) -> bool:
        return self._link.run(f"DELETE FROM {self._table} WHERE k = %s", (self._key(key),)) > 0

    def exists(self, key: Key) -> bool:
        return bool(self._ask("SELECT 1 FROM {} WHERE k = %s LIMIT 1", self._key(key)))

    def _replace(self, key: Key, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows in the place of those of a key."""
        each = f"(%s{', %s' * len(self._columns)})"
        insert = f"; {self._insert} VALUES {', '.join([each] * len(rows))}" if rows else ""
        values = [value for row in rows for value in (self._key(key), *row)]
        self._link.together(self._table, f"DELETE FROM {self._table} WHERE k = %s{insert}", (self._key(key), *values))

    def _ask(self, request: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        self._link.run(request.format(self._table), values)
        return self._link.rows()

    def _number(self, request: str, *values: Any) -> int:
        return int(self._ask(request, *values)[0][0])


class Lists(Parts):
    """KeyValue and Queue."""

    _columns = ("n", "item")

    def prepare(self) -> None:
        self._create([f"k {self._key_type} NOT NULL", "n BIGINT NOT NULL", "item LONGBLOB NOT NULL", "PRIMARY KEY (k, n)"])

    def get(self, key: Key) -> list[bytes] | None:
        return [row[0] for row in self._ask("SELECT item FROM {} WHERE k = %s ORDER BY n", self._key(key))] or None

    def put(self, key: Key, record: list[bytes]) -> None:
        self._replace(key, list(enumerate(record)))

    def push_back(self, key: Key, item: bytes) -> int:
        return self._push(key, item, "COALESCE(MAX(n) + 1, 0)")

    def push_front(self, key: Key, item: bytes) -> int:
        return self._push(key, item, "COALESCE(MIN(n) - 1, 0)")

    def pop_front(self, key: Key) -> bytes | None:
        return self._pop(key, "")

    def pop_back(self, key: Key) -> bytes | None:
        return self._pop(key, " DESC")

    def list_range(self, key: Key, start: int, stop: int) -> list[bytes]:
        first = f"(SELECT MIN(n) AS n FROM {self._table} WHERE k = %s) AS first"
        request = (
            f"SELECT l.item FROM {self._table} AS l JOIN {first} ON l.n >= first.n + %s AND l.n < first.n + %s WHERE l.k = %s ORDER BY l.n"
        )
        self._link.run(request, (self._key(key), start, stop, self._key(key)))
        return [row[0] for row in self._link.rows()]

    def list_length(self, key: Key) -> int:
        return self._number("SELECT COALESCE(MAX(n) - MIN(n) + 1, 0) FROM {} WHERE k = %s", self._key(key))

    def _push(self, key: Key, item: bytes, number: str) -> int:
        # One statement: two that are given the same number meet in the primary key, and the second one is refused.
        length = "CAST(LAST_INSERT_ID(COALESCE(MAX(n) - MIN(n) + 2, 1)) AS SIGNED)"
        select = f"SELECT %s, {number} + 0 * {length}, %s FROM {self._table} WHERE k = %s FOR UPDATE"
        self._link.run(f"{self._insert} {select}", (self._key(key), item, self._key(key)))
        return self._link.last_number

    def _pop(self, key: Key, order: str) -> bytes | None:
        select = f"SELECT n, item INTO @n, @item FROM {self._table} WHERE k = %s ORDER BY n{order} LIMIT 1 FOR UPDATE"
        delete = f"DELETE FROM {self._table} WHERE k = %s AND n = @n"
        self._link.together(
            self._table, f"SET @n = NULL, @item = NULL; {select}; {delete}", (self._key(key), self._key(key)), "SELECT @item"
        )
        item: bytes | None = self._link.rows()[0][0]
        return item


class Sets(Parts):
    """KeyValue and Members."""

    _columns = ("member",)

    def prepare(self) -> None:
        self._create([f"k {self._key_type} NOT NULL", f"member {self._member_type} NOT NULL", "PRIMARY KEY (k, member)"])

    def get(self, key: Key) -> set[str] | None:
        return {row[0].decode() for row in self._ask("SELECT member FROM {} WHERE k = %s", self._key(key))} or None

    def put(self, key: Key, record: set[str]) -> None:
        self._replace(key, [(self._key(member),) for member in sorted(record)])

    def add_member(self, key: Key, member: str) -> bool:
        try:
            self._link.run(f"{self._insert} VALUES (%s, %s)", (self._key(key), self._key(member)))
        except Refused as reason:
            # Not INSERT IGNORE: it also takes members that do not fit, and cuts them.
            if refused_with(reason, ER.DUP_ENTRY):
                return False
            raise
        return True

    def remove_member(self, key: Key, member: str) -> bool:
        return self._link.run(f"DELETE FROM {self._table} WHERE k = %s AND member = %s", (self._key(key), self._key(member))) == 1

    def has_member(self, key: Key, member: str) -> bool:
        return bool(self._ask("SELECT 1 FROM {} WHERE k = %s AND member = %s", self._key(key), self._key(member)))

    def member_count(self, key: Key) -> int:
        return self._number("SELECT COUNT(*) FROM {} WHERE k = %s", self._key(key))


class Rankings(Parts):
    """KeyValue and Ranking."""

    _columns = ("member", "score")

    def prepare(self) -> None:
        columns = [f"k {self._key_type} NOT NULL", f"member {self._member_type} NOT NULL", "score DOUBLE NOT NULL"]
        self._create([*columns, "PRIMARY KEY (k, member)", "KEY by_score (k, score, member)"])

    def get(self, key: Key) -> dict[str, float] | None:
        return dict(_scored(self._ask("SELECT member, score FROM {} WHERE k = %s", self._key(key)))) or None

    def put(self, key: Key, record: dict[str, float]) -> None:
        self._replace(key, [(self._key(member), float(score)) for member, score in sorted(record.items())])

    def set_score(self, key: Key, member: str, score: float) -> bool:
        changed = f"ON DUPLICATE KEY UPDATE score = VALUES(score), {keeping({'@k': 'k'})}"
        request = f"SET @k = NULL; {self._insert} VALUES (%s, %s, %s) {changed}; SELECT @k IS NULL"
        return bool(self._ask(request, self._key(key), self._key(member), float(score))[0][0])

    def add_score(self, key: Key, member: str, by: float) -> float:
        changed = f"ON DUPLICATE KEY UPDATE score = score + VALUES(score), {keeping({'@sum': 'score'})}"
        request = f"SET @sum = %s; {self._insert} VALUES (%s, %s, %s) {changed}; SELECT @sum"
        return float(self._ask(request, float(by), self._key(key), self._key(member), float(by))[0][0])

    def remove_score(self, key: Key, member: str) -> bool:
        return self._link.run(f"DELETE FROM {self._table} WHERE k = %s AND member = %s", (self._key(key), self._key(member))) == 1

    def score_of(self, key: Key, member: str) -> float | None:
        rows = self._ask("SELECT score FROM {} WHERE k = %s AND member = %s", self._key(key), self._key(member))
        return float(rows[0][0]) if rows else None

    def rank_of(self, key: Key, member: str) -> int | None:
        before = "o.k = r.k AND (o.score > r.score OR o.score = r.score AND o.member > r.member)"
        rank = f"(SELECT COUNT(*) FROM {self._table} AS o WHERE {before})"
        rows = self._ask(f"SELECT {rank} FROM {{}} AS r WHERE k = %s AND member = %s", self._key(key), self._key(member))
        return int(rows[0][0]) if rows else None

    def top(self, key: Key, count: int) -> list[tuple[str, float]]:
        order = "ORDER BY score DESC, member DESC LIMIT %s"
        return _scored(self._ask(f"SELECT member, score FROM {{}} WHERE k = %s {order}", self._key(key), count))

    def ranking_size(self, key: Key) -> int:
        return self._number("SELECT COUNT(*) FROM {} WHERE k = %s", self._key(key))


def _scored(rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, float]]:
    return [(member.decode(), float(score)) for member, score in rows]
