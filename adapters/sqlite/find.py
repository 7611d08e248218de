"""`find` in SQLite's words: documents or parts of them, with what a text index says of them and with the documents that they name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

from storeproof.adapters.sqlite.geo import distance
from storeproof.adapters.sqlite.query import Request, Source, order_by, sorted_on
from storeproof.adapters.sqlite.query_filter import Statement, at, json_path, point
from storeproof.contract import Json, Key, Path, Unsupported
from storeproof.contract.families import Joined
from storeproof.spec.query import Query, SortKey, Where


def find(table: Source, query: Query, named: Path | None = None, fields: Sequence[Path] = ()) -> Request:
    """The key, behind it the document or its parts, each as JSON, then the highlighted text, if one is asked for.

    With `named` also the key of the document in the same table whose key is the text at that path, NULL where there is none, and the parts
    `fields` of it.
    """
    statement = Statement(table.text)
    columns = ["k", *(["doc"] if query.fields is None else _parts(statement, "doc", query.fields))]
    source, where, needs, ranks = table.name, Where(filter=query.filter), [], []
    if query.ranked or query.highlight is not None:
        if table.text is None:
            raise Unsupported("`ranked` and `highlight` ask a text index, and there is none on this")
        searches, rest = table.text.leading(query.filter, statement.bind)
        words = table.text.words
        source = f"{words} JOIN {table.name} ON id = {words}.rowid"
        where, needs = Where.model_construct(filter=rest), [f"{words} MATCH {searches}"]
        if query.highlight is not None:
            columns.append(table.text.highlighted(query.highlight))
        if query.ranked:
            ranks = ["rank"]
    if named is not None:
        source += f" LEFT JOIN (SELECT k AS named, doc AS other FROM {table.name}) ON named = {at(named).only('text')}"
        columns += ["named", *_parts(statement, "other", fields)]
    text = f"SELECT {', '.join(columns)} FROM {source}{statement.where(where, *needs)}"
    text += order_by(query.sort, [_ordering(statement, key) for key in query.sort], ranks)
    if query.limit is not None or query.skip:
        text += f" LIMIT {statement.bind(-1 if query.limit is None else query.limit)} OFFSET {statement.bind(query.skip)}"
    return text, statement.parameters


def _ordering(statement: Statement, key: SortKey) -> str:
    if key.collation is not None:
        raise Unsupported("SQLite sorts texts by their bytes, or ASCII letters whatever their case; languages come with an extension (ICU)")
    return sorted_on(key) if key.origin is None else distance(*point(at, key.path), key.origin, statement.bind)


def found_records(query: Query, rows: Iterable[Sequence[Any]]) -> list[tuple[Key, dict[str, Json]]]:
    """What the rows of `find` say."""
    return [(row[0], _record(query, row)) for row in rows]


def found_joined(query: Query, fields: Sequence[Path], rows: Iterable[Sequence[Any]]) -> list[Joined]:
    """What they say where another document is named."""
    begin = _width(query)
    return [(row[0], _record(query, row), None if row[begin] is None else _put_together(fields, row[begin + 1 :])) for row in rows]


def _width(query: Query) -> int:
    """How many columns a record has, its key and its highlighted text among them."""
    return 1 + (1 if query.fields is None else len(query.fields)) + (query.highlight is not None)


def _record(query: Query, row: Sequence[Any]) -> dict[str, Json]:
    record: dict[str, Json] = json.loads(row[1]) if query.fields is None else _put_together(query.fields, row[1 : 1 + len(query.fields)])
    if query.highlight is not None:
        record["highlight"] = row[_width(query) - 1]
    return record


def _parts(statement: Statement, source: str, fields: Sequence[Path]) -> list[str]:
    for path in fields:
        if not path or any(isinstance(part, int) for part in path):
            raise Unsupported(f"a part of a document is what is under a name; found {path!r}")
    return [f"{source} -> {statement.bind(json_path(path))}" for path in fields]


def _put_together(fields: Sequence[Path], parts: Sequence[str | None]) -> dict[str, Json]:
    """Parts under the paths where they were; NULL is what was not there."""
    record: dict[str, Any] = {}
    for path, part in zip(fields, parts, strict=True):
        if part is not None:
            inner = record
            for name in path[:-1]:
                inner = inner.setdefault(cast(str, name), {})
            inner[cast(str, path[-1])] = json.loads(part)
    return record
