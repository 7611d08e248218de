"""Searches that are kept beside a table of documents, and asked for a document that comes.

A search is kept as a query of FTS5. The document is put into an FTS5 table of its own, each search is asked of that, and the document is
taken away again: all in one transaction.
"""

from __future__ import annotations

from typing import Any

from storeproof.adapters.sqlite.query_filter import Statement, at
from storeproof.adapters.sqlite.text import TextIndex, spaced
from storeproof.contract import Path, Unsupported
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Not, Or

Statements = list[tuple[str, tuple[Any, ...]]]


class StoredSearches:
    """The searches of one table, whose texts are at these paths."""

    def __init__(self, table: str, paths: tuple[Path, ...], text: TextIndex) -> None:
        self._paths = paths
        self._text = text
        self._kept = f'"{table}_searches"'
        self._document = f'"{table}_document"'

    def save(self, name: str, wanted: Filter | None) -> Statements:
        """The statements that keep a search."""
        statement = Statement()
        query = self._query(wanted, statement)
        insert = f"INSERT INTO {self._kept} (query, name) VALUES ({query}, ?{len(statement.parameters) + 1})"
        replace = " ON CONFLICT(name) DO UPDATE SET query = excluded.query"
        return [*self._create(), (insert + replace, (*statement.parameters, name))]

    def ask(self, document: str) -> Statements:
        """The statements that answer with the names of the searches that find a document, which is given as JSON."""
        columns = ", ".join(f"t{number}" for number in range(len(self._paths)))
        texts = ", ".join(spaced(at(path).only("text")) for path in self._paths)
        found = f"EXISTS (SELECT 1 FROM {self._document} WHERE {self._document} MATCH query)"
        return [
            *self._create(),
            (f"INSERT INTO {self._document} (rowid, {columns}) SELECT 1, {texts} FROM (SELECT ? AS doc)", (document,)),
            (f"SELECT name FROM {self._kept} WHERE {found} ORDER BY name", ()),
            (f"DELETE FROM {self._document}", ()),
        ]

    def drop(self) -> list[str]:
        """The statements that remove them."""
        return [f"DROP TABLE IF EXISTS {self._kept}", f"DROP TABLE IF EXISTS {self._document}"]

    def _create(self) -> Statements:
        kept = f"CREATE TABLE IF NOT EXISTS {self._kept} (name TEXT NOT NULL PRIMARY KEY, query TEXT NOT NULL)"
        return [(kept, ()), (self._text.another(self._document), ())]

    def _query(self, wanted: Filter | None, statement: Statement) -> str:
        """An expression for the query of FTS5, whose NOT has something to find before it."""
        match wanted:
            case Condition(operator="fuzzy"):
                raise Unsupported("fuzzy matching needs a text index, which a stored search does not have")
            case Condition(operator=operator) if operator in SEARCHES:
                return f"'(' || {self._text.sought(wanted, statement.bind)} || ')'"
            case And(parts=parts):
                sought = [self._query(part, statement) for part in parts if not isinstance(part, Not)]
                unwanted = [self._query(part.part, statement) for part in parts if isinstance(part, Not)]
                if sought:
                    found = _joined("AND", sought)
                    return _joined("NOT", [found, _joined("OR", unwanted)]) if unwanted else found
            case Or(parts=parts) if parts:
                return _joined("OR", [self._query(part, statement) for part in parts])
        raise Unsupported("an FTS5 query contains only words that must be present")


def _joined(word: str, queries: list[str]) -> str:
    """An expression for queries with a word between them."""
    between = f" || ' {word} ' || "
    return f"'(' || {between.join(queries)} || ')'"
