"""Searches that are kept beside a table of documents: a table of tsqueries, each of which is asked for the words of a document that comes.

They are for words as they are written. PostgreSQL has an index of what queries have in them, but none of which of them match: so all are
asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from storeproof.adapters.postgresql import text as text
from storeproof.adapters.postgresql.jsonb import Arguments, to_json
from storeproof.adapters.postgresql.table import Table
from storeproof.contract import Json, Record, Unsupported
from storeproof.spec.query import Where


class StoredSearches(Table):
    """StoredSearches."""

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
