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
from storeproof.adapters.sql import structures
from storeproof.contract import Key, Layout, Refused

_SCORE_BYTES = 24
"""Bytes of an index's entry, for a score and the lengths of the others."""


class Items(Table, structures.Items):
    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        # A key, a member and a score are together in an index.
        longest = KEY_BYTES.get(link.engine, 3072)
        self._key_type = f"VARBINARY({longest // 3})"
        self._member_type = f"VARBINARY({longest - longest // 3 - _SCORE_BYTES})"
        if link.engine == "ndbcluster":
            # All rows of a record in one partition: of several it locks the rows in no order, so that any two who change a record
            # at once wait for each other until the time is up.
            self._placed = " PARTITION BY KEY (k)"

    def _replace(self, key: Key, rows: Sequence[Sequence[Any]]) -> None:
        marks = ", ".join(f"(%s{', %s' * len(row)})" for row in rows)
        insert = f"; INSERT INTO {self._name} VALUES {marks}" if rows else ""
        values = [value for row in rows for value in (self._key(key), *row)]
        self._link.together(self._name, f"DELETE {self._of_key}{insert}", (self._key(key), *values))


class Lists(Items, structures.Lists):
    def prepare(self) -> None:
        self._create([f"k {self._key_type} NOT NULL", "place BIGINT NOT NULL", "item LONGBLOB NOT NULL", "PRIMARY KEY (k, place)"])

    def push_back(self, key: Key, item: bytes) -> int:
        return self._push(key, item, "COALESCE(MAX(place) + 1, 0)")

    def push_front(self, key: Key, item: bytes) -> int:
        return self._push(key, item, "COALESCE(MIN(place) - 1, 0)")

    def pop_front(self, key: Key) -> bytes | None:
        return self._pop(key, "")

    def pop_back(self, key: Key) -> bytes | None:
        return self._pop(key, " DESC")

    def _push(self, key: Key, item: bytes, place: str) -> int:
        # One statement: two that are given the same place meet in the primary key, and the second one is refused.
        length = "CAST(LAST_INSERT_ID(COALESCE(MAX(place) - MIN(place) + 2, 1)) AS SIGNED)"
        select = f"SELECT %s, {place} + 0 * {length}, %s {self._of_key} FOR UPDATE"
        self._link.change(f"INSERT INTO {self._name} {select}", self._key(key), item, self._key(key))
        return self._link.last_number

    def _pop(self, key: Key, order: str) -> bytes | None:
        select = f"SELECT place, item INTO @place, @item {self._of_key} ORDER BY place{order} LIMIT 1 FOR UPDATE"
        delete = f"DELETE {self._of_key} AND place = @place"
        statements = f"SET @place = NULL, @item = NULL; {select}; {delete}"
        item: bytes | None = self._link.together(self._name, statements, (self._key(key), self._key(key)), "SELECT @item")[0][0]
        return item


class Sets(Items, structures.Sets):
    def prepare(self) -> None:
        self._create([f"k {self._key_type} NOT NULL", f"member {self._member_type} NOT NULL", "PRIMARY KEY (k, member)"])

    def add_member(self, key: Key, member: str) -> bool:
        try:
            self._link.change(self._insert, *self._there(key, member))
        except Refused as reason:
            # Not INSERT IGNORE: it also takes members that do not fit, and cuts them.
            if refused_with(reason, ER.DUP_ENTRY):
                return False
            raise
        return True


class Rankings(Items, structures.Rankings):
    def prepare(self) -> None:
        columns = [f"k {self._key_type} NOT NULL", f"member {self._member_type} NOT NULL", "score DOUBLE NOT NULL"]
        self._create([*columns, "PRIMARY KEY (k, member)", "KEY by_score (k, score, member)"])

    def set_score(self, key: Key, member: str, score: float) -> bool:
        changed = f"ON DUPLICATE KEY UPDATE score = VALUES(score), {keeping({'@k': 'k'})}"
        request = f"SET @k = NULL; {self._insert} {changed}; SELECT @k IS NULL"
        return bool(self._one(request, *self._there(key, member), float(score)))

    def add_score(self, key: Key, member: str, by: float) -> float:
        changed = f"ON DUPLICATE KEY UPDATE score = score + VALUES(score), {keeping({'@sum': 'score'})}"
        request = f"SET @sum = %s; {self._insert} {changed}; SELECT @sum"
        return float(self._one(request, float(by), *self._there(key, member), float(by)))
