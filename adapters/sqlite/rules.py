"""What a table of documents is told while it is in use: indexes and rules, in SQLite's words."""

from __future__ import annotations

import json
from typing import Any

from storeproof.adapters.sqlite.query_filter import Statement, at, json_path
from storeproof.contract import Path, Unsupported
from storeproof.spec.model import Index
from storeproof.spec.query import TypeName


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
