"""JSON documents, kept as text and worked on by SQLite's JSON functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import storeproof.adapters.sqlite.query as sqlite_query
from storeproof.adapters.sqlite.arrays import Place
from storeproof.adapters.sqlite.find import find, found_joined, found_records
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.query_filter import Statement, at, json_path
from storeproof.adapters.sqlite.rules import create_index, index_name, require
from storeproof.adapters.sqlite.searches import StoredSearches
from storeproof.adapters.sqlite.table import Table
from storeproof.adapters.sqlite.text import TextIndex
from storeproof.contract import MISSING, Found, Json, Key, Layout, Missing, Path, Record, Refused, Unsupported
from storeproof.contract.families import Joined
from storeproof.spec.index import Index
from storeproof.spec.query import Aggregation, Browse, Query, TypeName, Where

Change = Callable[[Place, Callable[[Any], str]], str]
"""From a place, and what binds an argument of the statement: the document as it becomes."""


class Documents(Table):
    """A table with the documents of one model."""

    columns: Mapping[str, str] = {"doc": "TEXT NOT NULL CHECK (json_valid(doc))"}

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._text = TextIndex(layout.name, layout.model.text) if layout.model.text else None
        self._searches = StoredSearches(layout.name, layout.model.text, self._text) if self._text else None
        self._source = sqlite_query.Source(self._name, self._text)

    def definitions(self) -> list[str]:
        if self._text is None:
            return super().definitions()
        # A text index is by a number that stays with its row, whatever becomes of the file.
        table = f"CREATE TABLE IF NOT EXISTS {self._name} (id INTEGER PRIMARY KEY, k TEXT NOT NULL UNIQUE, {self.typed_columns()})"
        return [table, *super().definitions()[1:], *self._text.create()]

    def clear(self) -> None:
        dropped = [f"DROP TABLE IF EXISTS {self._name}", *self._unfollowed()]
        dropped += [*(self._text.drop() if self._text else ()), *(self._searches.drop() if self._searches else ())]
        self._link.drop(dropped)

    def encode(self, record: dict[str, Json]) -> Sequence[Any]:
        return (self._json(record),)

    @staticmethod
    def _json(value: Json) -> str:
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except (RecursionError, ValueError) as reason:
            raise Refused(f"cannot be written as JSON: {reason}") from None

    def decode(self, columns: Sequence[Any]) -> dict[str, Json]:
        return cast(dict[str, Json], json.loads(columns[0]))

    def indexed(self, path: tuple[str, ...]) -> str:
        return at(path).value

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        rows = self._link.read(f"SELECT doc -> ? FROM {self._name} WHERE k = ?", json_path(path), key)
        return cast(Json, json.loads(rows[0][0])) if rows and rows[0][0] is not None else MISSING

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self._changed(key, path, "set", lambda place, bind: place.with_value(bind(self._json(value)))) is not None

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._link.write(f"UPDATE {self._name} SET doc = json_remove(doc, ?) WHERE k = ?", json_path(path), key)[1] == 1

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        row = self._changed(key, path, "add to", lambda place, bind: place.plus(bind(by)))
        return None if row is None else cast(float, json.loads(row[0]))

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._changed(key, path, "push to", lambda place, bind: place.pushed(bind(self._json(value)))) is not None

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        *upper, position = path
        if not isinstance(position, int):
            raise Refused(f"the last part of a path to insert at is a position; found {position!r}")
        change: Change = lambda place, bind: place.inserted(position, bind(self._json(value)))  # noqa: E731
        return self._changed(key, tuple(upper), "insert into", change) is not None

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._changed(key, path, "pull from", lambda place, _: place.without(value)) is not None

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        return self._changed(key, path, "add to", lambda place, _: place.with_one(value)) is not None

    def item_count(self, key: Key, path: Path) -> int | Missing:
        rows = self._link.read(
            f"SELECT json_array_length(doc, ?2) FROM {self._name} WHERE k = ?1 AND json_type(doc, ?2) = 'array'", key, json_path(path)
        )
        return cast(int, rows[0][0]) if rows else MISSING

    def _changed(self, key: Key, path: Path, verb: str, change: Change) -> list[Any] | None:
        """Change a document at a path; what is there afterwards, as JSON, or None if there is no document."""
        statement = Statement()
        place = Place(statement, path)
        changed = change(place, statement.bind)
        text = f"UPDATE {self._name} SET doc = {changed} WHERE k = ?{len(statement.parameters) + 1} RETURNING doc -> {place.path}"
        try:
            rows, _ = self._link.write(text, *statement.parameters, key)
        except Refused as reason:
            if "NOT NULL" in str(reason):
                raise Refused(f"there is nothing at {json_path(path)} to {verb}") from None
            raise
        return rows[0] if rows else None

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return found_records(query, self._read(find(self._source, query)))

    def find_joined(self, query: Query, path: Path, fields: Sequence[Path]) -> Sequence[Joined]:
        return found_joined(query, fields, self._read(find(self._source, query, path, fields)))

    def count_where(self, where: Where) -> int:
        return cast(int, self._read(sqlite_query.count_where(self._source, where))[0][0])

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        return sqlite_query.found_groups(aggregation, self._read(sqlite_query.aggregate(self._source, aggregation)))

    def browse(self, browse: Browse) -> Found:
        return sqlite_query.found_page(browse, self._read(sqlite_query.browse(self._source, browse)))

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        statement, parameters = sqlite_query.update_where(self._source, where, path, self._json(value))
        try:
            return self._link.write(statement, *parameters)[1]
        except Refused as reason:
            if "NOT NULL" in str(reason):
                raise Refused(f"in a record that matches there is nothing at {json_path(path[:-1])} to set {path[-1]!r} in") from None
            raise

    def delete_where(self, where: Where) -> int:
        statement, parameters = sqlite_query.delete_where(self._source, where)
        return self._link.write(statement, *parameters)[1]

    def _read(self, request: sqlite_query.Request) -> list[list[Any]]:
        statement, parameters = request
        return self._link.read(statement, *parameters)

    def create_index(self, index: Index) -> None:
        self._link.write(create_index(self._layout.name, index))

    def drop_index(self, name: str) -> bool:
        there = ("SELECT name FROM sqlite_master WHERE type = 'index' AND name = ?", (f"{self._layout.name}.{name}",))
        return bool(self._link.write_all([there, (f"DROP INDEX IF EXISTS {index_name(self._layout.name, name)}", ())]))

    def index_names(self) -> Sequence[str]:
        begin = f"{self._layout.name}."
        rows = self._link.read(
            "SELECT substr(name, ?) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND substr(name, 1, ?) = ? ORDER BY 1",
            len(begin) + 1,
            self._layout.name,
            len(begin),
            begin,
        )
        return [row[0] for row in rows]

    def save_search(self, name: str, where: Where) -> None:
        self._link.write_all(self._kept_searches.save(name, where.filter))

    def searches_for(self, record: Record) -> Sequence[str]:
        return [row[0] for row in self._link.write_all(self._kept_searches.ask(self._json(cast(Json, record))))]

    @property
    def _kept_searches(self) -> StoredSearches:
        if self._searches is None:
            raise Unsupported("a search is for words in texts, and the model has none")
        return self._searches

    def require(self, path: Path, kind: TypeName) -> None:
        self._link.write_all([(statement, ()) for statement in require(self._layout.name, path, kind)])
