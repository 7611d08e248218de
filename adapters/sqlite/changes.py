"""Changes inside of documents: expressions for what a document becomes, NULL where it cannot.

The table refuses NULL for a document, and with it the whole statement. What is not changed keeps its text, so that a number does not
lose digits on the way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from storeproof.adapters.sql.documents import Change
from storeproof.adapters.sqlite.query_filter import Statement, Value, at, json_path, to_json
from storeproof.contract import Json, Path, Unsupported

_NUL = json.dumps("\0")[1:-1]


class Place:
    """A path in the column `doc`, as an argument of a statement."""

    def __init__(self, statement: Statement, path: Path) -> None:
        self._statement = statement
        self.path = statement.bind(json_path(path))
        self.kind = f"json_type(doc, {self.path})"
        inside = isinstance(path[-1], int)
        self.settable = f"{self.kind} IS NOT NULL" if inside else at(path[:-1]).of("object")
        """Whether a value may be put there: into an object that has the name or not, or over an item of a list."""

    def plus(self, number: int | float) -> str:
        """With a number added; a sum of whole numbers that is a real one has left the 64 bits."""
        by = self._statement.bind(number)
        total = f"coalesce(json_extract(doc, {self.path}), 0) + {by}"
        allowed = f"{self.kind} IN ('integer', 'real') OR ({self.kind} IS NULL AND {self.settable})"
        exact = f"typeof({total}) = 'integer' OR {self.kind} = 'real' OR typeof({by}) = 'real'"
        # json_set would write a real with 15 digits; `quote` writes it to the last bit.
        return f"CASE WHEN ({allowed}) AND ({exact}) THEN json_set(doc, {self.path}, json(quote({total}))) END"

    def pushed(self, value: Json) -> str:
        """With the value as one more item at the end of the list."""
        return self._of_list(f"json_insert(doc, {self.path} || '[#]', json({self._bound(value)}))")

    def inserted(self, position: int, value: Json) -> str:
        """With the value at a position of the list; the document is NULL beyond its end."""
        number, item = self._statement.bind(position), self._bound(value)
        # The items have odd places, and what is new stands before that of its position.
        items = f"SELECT 2 * key + 1 AS place, {self._item} AS item FROM json_each(doc, {self.path}) AS one"
        ordered = f"SELECT item FROM ({items} UNION ALL SELECT 2 * {number}, {item}) ORDER BY place"
        return self._of_list(f"CASE WHEN {number} <= json_array_length(doc, {self.path}) THEN {self._list_of(ordered)} END")

    def without(self, value: Json) -> str:
        """Without the items that equal the value."""
        kept = f"SELECT {self._item} AS item FROM json_each(doc, {self.path}) AS one WHERE ({self._equal(value)}) IS NOT TRUE ORDER BY key"
        return self._of_list(self._list_of(kept))

    def with_one(self, value: Json) -> str:
        """With the value at the end of the list, unless an equal one is in it."""
        there = f"EXISTS (SELECT 1 FROM json_each(doc, {self.path}) AS one WHERE {self._equal(value)})"
        return self._of_list(f"CASE WHEN {there} THEN doc ELSE json_insert(doc, {self.path} || '[#]', json({self._bound(value)})) END")

    @property
    def _item(self) -> str:
        """The JSON of an item, as it is written in the document."""
        return f"doc -> ({self.path} || '[' || one.key || ']')"

    def _list_of(self, items: str) -> str:
        return f"json_set(doc, {self.path}, json((SELECT json_group_array(json(item)) FROM ({items}))))"

    def _of_list(self, changed: str) -> str:
        return f"CASE WHEN {self.kind} = 'array' THEN {changed} END"

    def _equal(self, value: Json) -> str:
        if isinstance(value, str):  # as it is written: `json_each` ends a text at U+0000
            return f"one.type = 'text' AND {self._item} = {self._bound(value)}"
        found = Value("one.value", "one.type")
        if not isinstance(value, (list, dict)):
            return self._statement.equal(found, [value])
        if _NUL in json.dumps(value):
            raise Unsupported("SQLite's JSON functions truncate text at U+0000, so a list or an object with one cannot be compared")
        return f"({self._statement.equal(found, [value])}) AND instr(one.value, '{_NUL}') = 0"

    def _bound(self, value: Json) -> str:
        return self._statement.bind(to_json(value))


def with_values(statement: Statement, values: Mapping[Path, Json]) -> str:
    """The document with these values at their paths."""
    places = [Place(statement, path) for path in values]
    written = [f"{place.path}, json({statement.bind(to_json(value))})" for place, value in zip(places, values.values(), strict=True)]
    return f"CASE WHEN {' AND '.join(f'({place.settable})' for place in places)} THEN json_set(doc, {', '.join(written)}) END"


CHANGES: Final[Mapping[Change, tuple[str, Callable[[Place, Any], str]]]] = {
    "push": ("push to", Place.pushed),
    "pull": ("pull from", Place.without),
    "add": ("add to", Place.with_one),
}
"""What a refusal calls it, and the document as it becomes. A removal needs no place, and an insertion a position too."""
