"""JSON documents, kept as jsonb and worked on by PostgreSQL's own functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from storeproof.adapters.postgresql import arrays as arrays
from storeproof.adapters.postgresql import decimals as decimals
from storeproof.adapters.postgresql import geo as geo
from storeproof.adapters.postgresql import query as requests
from storeproof.adapters.postgresql import text as text
from storeproof.adapters.postgresql.jsonb import Arguments, indexed, place, to_json, with_value, without
from storeproof.adapters.postgresql.records import Records
from storeproof.adapters.postgresql.rules import Rules
from storeproof.adapters.postgresql.searches import StoredSearches
from storeproof.contract import MISSING, Found, Json, Key, Missing, Path, Unsupported
from storeproof.spec.query import Aggregation, Browse, Query, Where

Change = Callable[[Path, Any, Arguments], str]
"""(path, value, arguments) -> an expression for the document as it becomes."""


class Documents(Rules, StoredSearches, Records):
    """One jsonb in each row: Paths, PathCounter, Arrays, Find, Lookup, Aggregate, Facets, Bulk."""

    columns: Mapping[str, str] = {"doc": "jsonb"}

    def encode(self, record: dict[str, Json]) -> Sequence[Any]:
        return (to_json(record),)

    def decode(self, columns: Sequence[Any]) -> dict[str, Json]:
        document: dict[str, Json] = self._read(columns[0])
        return document

    def _read(self, text: str, place: Path = ()) -> Any:
        """What was at a place of a document."""
        return decimals.read(text, self._layout.model.decimals, place)

    def definitions(self) -> Sequence[str]:
        return [*super().definitions(), *text.indexes(self._layout, self._link.ours), *geo.indexes(self._layout)]

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        found = Arguments()
        rows = self._of(key, f"({place('doc', path, found.add).json})::text", found)
        if not rows or rows[0][0] is None:
            return MISSING
        part: Json = self._read(rows[0][0], path)
        return part

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(with_value, key, path, value)

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._change(lambda *change: without(change[0], change[2]), key, path, None)

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        added = Arguments()
        changed, total = arrays.increased(path, by, added), place("doc", path, added.add).json
        statement = f"UPDATE {self._name} SET doc = {changed} WHERE k = {added.add(self._key(key))} RETURNING ({total})::text"
        if not self._link.run(statement, added.values):
            return None
        sum_: int | float = self._read(self._link.rows()[0][0], path)
        return sum_

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(arrays.pushed, key, path, value)

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(arrays.inserted, key, path, value)

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(arrays.pulled, key, path, value)

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(arrays.with_one, key, path, value)

    def item_count(self, key: Key, path: Path) -> int | Missing:
        found = Arguments()
        rows = self._of(key, arrays.length(path, found), found)
        if not rows or rows[0][0] is None:
            return MISSING
        number: int = rows[0][0]
        return number

    def find(self, query: Query) -> list[tuple[Key, dict[str, Json]]]:
        self._ask(requests.find(self._layout, query))
        return [(self._key_of(row[0]), requests.answer_of(query, row[1:], self._read)) for row in self._link.rows()]

    def find_joined(self, query: Query, path: Path, fields: Sequence[Path]) -> list[tuple[Key, dict[str, Json], dict[str, Json] | None]]:
        self._ask(requests.find_joined(self._layout, query, path, fields))
        own = -1 - len(fields)  # behind these: whether another was found, and its parts
        return [
            (
                self._key_of(row[0]),
                requests.answer_of(query, row[1:own], self._read),
                requests.part_of(fields, row[own + 1 :], self._read) if row[own] else None,
            )
            for row in self._link.rows()
        ]

    def count_where(self, where: Where) -> int:
        self._ask(requests.count_where(self._layout, where))
        number: int = self._link.rows()[0][0]
        return number

    def aggregate(self, aggregation: Aggregation) -> list[dict[str, Json]]:
        self._ask(requests.aggregate(self._layout, aggregation))
        exact = decimals.of_rows(aggregation, self._layout.model.decimals)
        return [decimals.read(row[0], exact) for row in self._link.rows()]

    def browse(self, browse: Browse) -> Found:
        self._ask(requests.browse(self._layout, browse))
        ((total, keys, *facets),) = self._link.rows()
        counted = {}
        for (name, facet), found in zip(browse.facets.items(), facets, strict=True):
            exact = [(0,)] if facet.path in self._layout.model.decimals else []
            counted[name] = [(value, count) for value, count in (decimals.read(each, exact) for each in found)]
        return Found(total, [self._key_of(key) for key in keys], counted)

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        return self._ask(requests.update_where(self._layout, where, path, value))

    def delete_where(self, where: Where) -> int:
        return self._ask(requests.delete_where(self._layout, where))

    def _ask(self, statement: requests.Statement) -> int:
        """Not prepared: every request is another, and is planned with its arguments known."""
        if statement.fuzzy and not self._has_letters:
            raise Unsupported(
                "words with a letter wrong are looked up in an index of trigrams, for which the database lacks an extension: "
                "whoever runs it may say CREATE EXTENSION pg_trgm"
            )
        return self._link.run(statement.text, statement.arguments, prepare=False)

    @cached_property
    def _has_letters(self) -> bool:
        """Whether `prepare` could make the index of letters; asked once, before the first request that needs it."""
        found: bool = self._one("SELECT to_regclass(%s) IS NOT NULL", self._own("letters"))
        return found

    def _of(self, key: Key, expression: str, arguments: Arguments) -> Sequence[tuple[Any, ...]]:
        self._link.run(f"SELECT {expression} FROM {self._name} WHERE k = {arguments.add(self._key(key))}", arguments.values)
        return self._link.rows()

    def _change(self, change: Change, key: Key, path: Path, value: Json) -> bool:
        arguments = Arguments()
        changed = change(path, value, arguments)
        statement = f"UPDATE {self._name} SET doc = {changed} WHERE k = {arguments.add(self._key(key))}"
        return self._link.run(statement, arguments.values) == 1

    def _derived(self) -> Sequence[str]:
        return text.columns(self._layout)

    def _indexed(self, path: tuple[str, ...]) -> str:
        return indexed(self._layout, path)
