"""JSON documents, kept as jsonb and worked on by PostgreSQL's own functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from storeproof.adapters.postgresql import geo as geo
from storeproof.adapters.postgresql import text as text
from storeproof.adapters.postgresql.changes import CHANGES, increased, length, with_values
from storeproof.adapters.postgresql.jsonb import Arguments, indexed, place, read_exact, to_json
from storeproof.adapters.postgresql.link import Link
from storeproof.adapters.postgresql.query import Requests, Statement
from storeproof.adapters.postgresql.records import Records
from storeproof.adapters.postgresql.rules import Rules
from storeproof.adapters.postgresql.table import Table
from storeproof.adapters.sql import documents
from storeproof.adapters.sql.documents import Change
from storeproof.contract import MISSING, Json, Key, Layout, Missing, Path, Record, Unsupported
from storeproof.spec.query import Where


class StoredSearches(Table):
    """Searches kept beside a table of documents: a table of tsqueries, each of which is asked for the words of a document that comes.

    They are for words as they are written. PostgreSQL has an index of what queries have in them, but none of which of them match: so all
    are asked.
    """

    further = (*Table.further, "searches")

    def save_search(self, name: str, where: Where) -> None:
        if not self._layout.model.text:
            raise Unsupported("a search needs a text path, and the model has none")
        arguments = Arguments()
        query = text.stored(self._layout, where.filter, arguments.add)
        insert = f"INSERT INTO {self._own('searches')} (name, query) VALUES ({arguments.add(name)}::text, {query})"
        self._link.make(self._new_table(self._own("searches"), "name text PRIMARY KEY, query tsquery NOT NULL"))
        self._link.run(f"{insert} ON CONFLICT (name) DO UPDATE SET query = EXCLUDED.query", arguments.values, prepare=False)

    def searches_for(self, record: Record) -> Sequence[str]:
        arguments = Arguments()
        words = text.vector(self._layout, f"({arguments.add(to_json(cast(Json, record)))}::jsonb)")
        found = f'SELECT name FROM {self._own("searches")} WHERE query @@ ({words}) ORDER BY name COLLATE "C"'
        self._link.run(found, arguments.values, prepare=False)
        return [row[0] for row in self._link.rows()]


class Documents(Rules, StoredSearches, Records, documents.Documents):
    """One jsonb in each row: also PathCounter."""

    columns: Mapping[str, str] = {"doc": "jsonb"}

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        self._requests = Requests(layout)

    def encode(self, record: dict[str, Json]) -> Sequence[Any]:
        return (to_json(record),)

    def _read(self, text: str, place: Path = ()) -> Any:
        return read_exact(text, self._layout.model.decimals, place)

    def definitions(self) -> Sequence[str]:
        return [*super().definitions(), *text.indexes(self._layout, self._link.ours), *geo.indexes(self._layout)]

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        added = Arguments()
        changed, total = increased(path, by, added), place("doc", path, added.add).json
        statement = f"UPDATE {self._name} SET doc = {changed} WHERE k = {added.add(self._key(key))} RETURNING ({total})::text"
        if not self._link.run(statement, added.values):
            return None
        sum_: int | float = self._read(self._link.rows()[0][0], path)
        return sum_

    def item_count(self, key: Key, path: Path) -> int | Missing:
        found = Arguments()
        rows = self._of(key, length(path, found), found)
        if not rows or rows[0][0] is None:
            return MISSING
        number: int = rows[0][0]
        return number

    def _ask(self, statement: Statement) -> Sequence[tuple[Any, ...]]:
        self._do(statement)
        return self._link.rows()

    def _do(self, statement: Statement) -> int:
        """Not prepared: every request is another, and is planned with its arguments known."""
        if statement.fuzzy and not self._has_letters:
            raise Unsupported(
                "fuzzy text search needs a trigram index, and the database lacks its extension; create it as a user that may: "
                "CREATE EXTENSION pg_trgm"
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

    def _parts(self, key: Key, paths: Sequence[Path]) -> Sequence[str | None] | None:
        found = Arguments()
        rows = self._of(key, ", ".join(f"({place('doc', path, found.add).json})::text" for path in paths), found)
        return rows[0] if rows else None

    def _set(self, key: Key, values: Mapping[Path, Json]) -> bool:
        arguments = Arguments()
        return self._update(key, with_values(values, arguments), arguments)

    def _change(self, change: Change, key: Key, path: Path, value: Json) -> bool:
        arguments = Arguments()
        return self._update(key, CHANGES[change](path, value, arguments), arguments)

    def _update(self, key: Key, changed: str, arguments: Arguments) -> bool:
        statement = f"UPDATE {self._name} SET doc = {changed} WHERE k = {arguments.add(self._key(key))}"
        return self._link.run(statement, arguments.values) == 1

    def _derived(self) -> Sequence[str]:
        return text.columns(self._layout)

    def _indexed(self, path: tuple[str, ...]) -> str:
        return indexed(self._layout, path)
