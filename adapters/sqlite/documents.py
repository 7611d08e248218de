"""JSON documents, kept as text and worked on by SQLite's JSON functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from storeproof.adapters.sql import documents
from storeproof.adapters.sql.documents import Change
from storeproof.adapters.sqlite.changes import CHANGES, Place, with_values
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.query import Request, Requests
from storeproof.adapters.sqlite.query_filter import Statement, at, json_path, to_json
from storeproof.adapters.sqlite.searches import StoredSearches
from storeproof.adapters.sqlite.table import Table
from storeproof.adapters.sqlite.text import TextIndex
from storeproof.contract import MISSING, Json, Key, Layout, Missing, Path, Record, Refused, Unsupported
from storeproof.spec.model import Index
from storeproof.spec.query import TypeName, Where


class Documents(Table, documents.Documents):
    """JSON as text: also PathCounter, Indexing, Validation, StoredSearches."""

    columns: Mapping[str, str] = {"doc": "TEXT NOT NULL CHECK (json_valid(doc))"}

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._text = TextIndex(layout.name, layout.model.text) if layout.model.text else None
        self._searches = StoredSearches(layout.name, layout.model.text, self._text) if self._text else None
        self._requests = Requests(self._name, self._text)

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
        return (to_json(record),)

    def _read(self, text: str, place: Path = ()) -> Any:  # noqa: ARG002
        return json.loads(text)

    def indexed(self, path: tuple[str, ...]) -> str:
        return at(path).value

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._link.write(f"UPDATE {self._name} SET doc = json_remove(doc, ?) WHERE k = ?", json_path(path), key)[1] == 1

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        row = self._changed(key, path, "add to", lambda place: place.plus(by))
        return None if row is None else cast(float, json.loads(row[0]))

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        *upper, position = path
        if not isinstance(position, int):
            raise Refused(f"the last part of a path to insert at is a position; found {position!r}")
        return self._changed(key, tuple(upper), "insert into", lambda place: place.inserted(position, value)) is not None

    def item_count(self, key: Key, path: Path) -> int | Missing:
        rows = self._link.read(
            f"SELECT json_array_length(doc, ?2) FROM {self._name} WHERE k = ?1 AND json_type(doc, ?2) = 'array'", key, json_path(path)
        )
        return cast(int, rows[0][0]) if rows else MISSING

    def _parts(self, key: Key, paths: Sequence[Path]) -> Sequence[str | None] | None:
        columns = ", ".join(["doc -> ?"] * len(paths))
        rows = self._link.read(f"SELECT {columns} FROM {self._name} WHERE k = ?", *map(json_path, paths), key)
        return rows[0] if rows else None

    def _set(self, key: Key, values: Mapping[Path, Json]) -> bool:
        statement = Statement()
        text = f"UPDATE {self._name} SET doc = {with_values(statement, values)} WHERE k = {statement.bind(key)}"
        try:
            return self._link.write(text, *statement.parameters)[1] == 1
        except Refused as reason:
            if "NOT NULL" in str(reason):
                raise Refused(f"there is no object or list position to set at {' or '.join(map(json_path, values))}") from None
            raise

    def _change(self, change: Change, key: Key, path: Path, value: Json) -> bool:
        verb, changed = CHANGES[change]
        return self._changed(key, path, verb, lambda place: changed(place, value)) is not None

    def _changed(self, key: Key, path: Path, verb: str, change: Callable[[Place], str]) -> list[Any] | None:
        """Change a document at a path; what is there afterwards, as JSON, or None if there is no document."""
        statement = Statement()
        place = Place(statement, path)
        changed = change(place)
        text = f"UPDATE {self._name} SET doc = {changed} WHERE k = ?{len(statement.parameters) + 1} RETURNING doc -> {place.path}"
        try:
            rows, _ = self._link.write(text, *statement.parameters, key)
        except Refused as reason:
            if "NOT NULL" in str(reason):
                raise Refused(f"there is nothing at {json_path(path)} to {verb}") from None
            raise
        return rows[0] if rows else None

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        try:
            return super().update_where(where, path, value)
        except Refused as reason:
            if "NOT NULL" in str(reason):
                raise Refused(f"in a record that matches there is nothing at {json_path(path[:-1])} to set {path[-1]!r} in") from None
            raise

    def _ask(self, request: Request) -> list[list[Any]]:
        statement, parameters = request
        return self._link.read(statement, *parameters)

    def _do(self, request: Request) -> int:
        statement, parameters = request
        return self._link.change(statement, *parameters)

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
        return [row[0] for row in self._link.write_all(self._kept_searches.ask(to_json(cast(Json, record))))]

    @property
    def _kept_searches(self) -> StoredSearches:
        if self._searches is None:
            raise Unsupported("a search needs a text path, and the model has none")
        return self._searches

    def require(self, path: Path, kind: TypeName) -> None:
        self._link.write_all([(statement, ()) for statement in require(self._layout.name, path, kind)])


class _Literals(Statement):
    """A statement without parameters: a definition has none."""

    def bind(self, value: Any) -> str:
        if isinstance(value, str):
            super().bind(value)
            return "'" + value.replace("'", "''") + "'"
        return json.dumps(value)


def create_index(table: str, index: Index) -> str:
    """The statement that makes an index; it fails where the records break it, and nothing is left of it then.

    `json_extract` gives 1 for true. So where values may not be there twice, their types are in the index too.
    """
    if index.each:
        raise Unsupported("an index of SQLite has one entry for each row, not one for each item of a list in it")
    columns = [at(path).value for path in index.paths]
    if index.unique:
        columns += [f"CASE {kind} WHEN 'real' THEN 'integer' ELSE {kind} END" for kind in (at(path).kind for path in index.paths)]
    where = _Literals().where(index)
    if "SELECT" in where:
        raise Unsupported("the filter of a partial index of SQLite cannot look into lists and objects")
    return (
        f"CREATE {'UNIQUE ' if index.unique else ''}INDEX {index_name(table, index.name)} ON {_quoted(table)} ({', '.join(columns)}){where}"
    )


def index_name(table: str, name: str) -> str:
    """An index's name among those of the database."""
    return _quoted(f"{table}.{name}")


def require(table: str, path: Path, kind: TypeName) -> list[str]:
    """The statements from which on no write leaves a document without a value of the type at the path. SQLite adds no CHECK to a table."""
    where = json_path(path)
    message = f"the record would have no {kind} at {where}".replace("'", "''")
    refusal = f"SELECT RAISE(ABORT, '{message}') WHERE ({at(path).of(kind)}) IS NOT TRUE"
    return [
        f"CREATE TRIGGER IF NOT EXISTS {_quoted(f'{table}.{event} {kind} at {where}')} BEFORE {event} ON {_quoted(table)} "
        f"BEGIN {refusal.replace('(doc, ', '(new.doc, ')}; END"
        for event in ("INSERT", "UPDATE")
    ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
