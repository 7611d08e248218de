"""Filters in SQLite's words: expressions over the column `doc`, and the parameters in them.

A value in a document is two expressions: what `json_extract` makes of it, which knows no booleans, and what `json_type` says it
was. An index is on the first, so a comparison names it bare and has the second beside it. A condition may be NULL where it does
not hold; `not` is `IS NOT TRUE`, which takes NULL for false, so that a record is in a filter or in its `not`.

SQLite's JSON functions end a text at U+0000: what stands behind one in a document is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from storeproof.adapters.sqlite import geo as geo
from storeproof.contract import Json, Path, Refused, Unsupported
from storeproof.spec.place import PLACES
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Not, Or, Where

_KINDS = {
    "null": "= 'null'",
    "boolean": "IN ('true', 'false')",
    "number": "IN ('integer', 'real')",
    "text": "= 'text'",
    "list": "= 'array'",
    "object": "= 'object'",
}
_SIGNS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}

_LAST = 0x10FFFF
"""The last code point."""
_SURROGATES = range(0xD800, 0xE000)
"""The code points that no text has."""


class Value(NamedTuple):
    """Expressions for a value in a document."""

    value: str
    """As `json_extract` gives it: NULL for null and for nothing, 1 and 0 for booleans, JSON for lists and objects."""
    kind: str
    """As `json_type` names it; NULL where there is no value."""

    def of(self, name: str) -> str:
        return f"{self.kind} {_KINDS[name]}"

    def only(self, name: str) -> str:
        """The value if it is of the type, else NULL. CASE decides first: the JSON functions fail on texts that are no JSON."""
        return f"CASE WHEN {self.of(name)} THEN {self.value} END"

    def identity(self) -> str:
        """Equal where the values are equal, and else different; NULL for null and for nothing."""
        return (
            f"CASE {self.kind} WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'array' THEN CAST({_leaves(self.only('list'))} AS BLOB) "
            f"WHEN 'object' THEN CAST({_leaves(self.only('object'))} AS BLOB) ELSE {self.value} END"
        )


def to_json(value: Json) -> str:
    """JSON as it is stored. Raises `Refused` for what JSON has no way to write."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (RecursionError, ValueError) as reason:
        raise Refused(f"cannot be written as JSON: {reason}") from None


At = Callable[[Path], Value]
"""Where a filter's paths lead."""


def json_path(path: Path) -> str:
    """SQLite's notation. It compares a name with the text in the document, escapes and all: one that has any is refused."""
    text = "$"
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif len(json.dumps(part, ensure_ascii=False)) != len(part) + 2:
            raise Refused(f"SQLite has no notation for a path through the name {part!r}")
        else:
            text += f'."{part}"'
    return text


def at(path: Path) -> Value:
    """The value at a path of the column `doc`: its first expression is what an index is on."""
    return within("doc", path)


OF_DOCUMENT: At = at


def within(source: str, path: Path) -> Value:
    """The value at a path of any expression that is JSON or NULL. The path is part of the text, or no index would be used."""
    quoted = "'" + json_path(path).replace("'", "''") + "'"
    return Value(f"json_extract({source}, {quoted})", f"json_type({source}, {quoted})")


def point(at: At, path: Path) -> tuple[str, str]:
    """Longitude and latitude of the GeoJSON point at a path, as numbers or NULL."""
    longitude, latitude = (at((*path, "coordinates", part)).only("number") for part in (0, 1))
    return longitude, latitude


class Searches(Protocol):
    """A text index on the documents."""

    def matches(self, condition: Condition, bind: Callable[[str], str]) -> str:
        """Whether a search finds the document."""


class Statement:
    """The parameters of a statement, and the expressions that they are in."""

    def __init__(self, searches: Searches | None = None) -> None:
        self.parameters: list[Any] = []
        self._searches = searches
        self._tables = 0

    def bind(self, value: Any) -> str:
        """The mark of one more parameter."""
        if isinstance(value, str) and "\0" in value:
            raise Unsupported("SQLite's JSON functions truncate text at U+0000, so text with one cannot be found")
        self.parameters.append(value)
        return f"?{len(self.parameters)}"

    def where(self, asked: Where, *needs: str) -> str:
        """The clause for a filter on documents and for what else they need; empty where there is neither."""
        conditions = [*needs] if asked.filter is None else [self.holds(asked.filter, at), *needs]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def holds(self, condition: Filter, at: At) -> str:
        """True where the filter holds, false or NULL where it does not."""
        match condition:
            case And(parts=parts):
                return f"({' AND '.join(self.holds(part, at) for part in parts) or 'TRUE'})"
            case Or(parts=parts):
                return f"({' OR '.join(self.holds(part, at) for part in parts) or 'FALSE'})"
            case Not(part=part):
                return f"({self.holds(part, at)} IS NOT TRUE)"
        if condition.operator in SEARCHES:
            if self._searches is None or at is not OF_DOCUMENT:
                raise Unsupported(f"`{condition.operator}` needs a text index, and there is none here")
            return f"({self._searches.matches(condition, self.bind)})"
        if condition.operator in PLACES:
            return f"({geo.located(condition.operator, condition.value, *point(at, condition.path), self.bind)})"
        return f"({self._condition(condition, at(condition.path))})"

    def items(self, listed: str) -> tuple[str, Value]:
        """A table of the items of a list, without any for NULL, and the item in it."""
        self._tables += 1
        name = f"item{self._tables}"
        return f"json_each({listed}) AS {name}", Value(f"{name}.value", f"{name}.type")

    def _condition(self, condition: Condition, found: Value) -> str:
        wanted = condition.value
        match condition.operator:
            case "exists":
                return f"{found.kind} IS {'NOT ' if wanted else ''}NULL"
            case "type":
                return found.of(wanted)
            case "in":
                return self.equal(found, wanted)
            case "size":
                return f"json_array_length({found.only('list')}) = {self.bind(wanted)}"
            case "any":
                table, item = self.items(found.only("list"))
                return f"EXISTS (SELECT 1 FROM {table} WHERE {self._compared(item, wanted.operator, wanted.value)})"
            case "all":
                return " AND ".join([found.of("list"), *(self._has(found, each) for each in wanted)])
            case "element":
                table, item = self.items(found.only("list"))
                inner = self.holds(wanted, lambda path: within(item.only("object"), path))
                return f"EXISTS (SELECT 1 FROM {table} WHERE {item.of('object')} AND {inner})"
            case "prefix" | "contains" | "regex" | "ieq" | "icontains":
                return f"{self._text(found.value, condition.operator, wanted)} AND {found.of('text')}"
            case "eq" | "ne" | "lt" | "lte" | "gt" | "gte":
                return self._compared(found, condition.operator, wanted)
        raise AssertionError(f"`{condition.operator}` is a search")

    def _compared(self, found: Value, operator: str, wanted: Any) -> str:
        if operator == "eq":
            return self.equal(found, [wanted])
        if operator == "ne":
            return f"({self.equal(found, [wanted])}) IS NOT TRUE"
        return f"{found.value} {_SIGNS[operator]} {self.bind(wanted)} AND {found.of('text' if isinstance(wanted, str) else 'number')}"

    def equal(self, found: Value, wanted: Sequence[Any]) -> str:
        """Whether it is one of them: the scalars in one comparison, as an index needs it; lists and objects by their parts."""
        scalars = [self.bind(each) for each in wanted if type(each) in (int, float, str)]
        either = [f"{found.kind} = '{json.dumps(each)}'" for each in wanted if each is None or isinstance(each, bool)]
        for each in wanted:
            if isinstance(each, (list, tuple, dict)):
                whole = _leaves(found.only("object" if isinstance(each, dict) else "list"))
                either.append(f"{whole} = {_leaves(self.bind(json.dumps(each, ensure_ascii=False)))}")
        if scalars:
            among = f"= {scalars[0]}" if len(scalars) == 1 else f"IN ({', '.join(scalars)})"
            either.append(f"{found.value} {among} AND {found.kind} IN ('text', 'integer', 'real')")
        return " OR ".join(either) or "FALSE"

    def _has(self, found: Value, wanted: Any) -> str:
        table, item = self.items(found.only("list"))
        return f"EXISTS (SELECT 1 FROM {table} WHERE {self.equal(item, [wanted])})"

    def _text(self, value: str, operator: str, wanted: str) -> str:
        if operator == "regex":
            raise Unsupported("SQLite has the operator REGEXP, but the function must come from the application")
        if operator == "ieq":
            return f"{value} = {self.bind(wanted)} COLLATE NOCASE"
        if operator == "contains":
            return f"instr({value}, {self.bind(wanted)}) > 0"
        if operator == "icontains":
            return f"instr(lower({value}), lower({self.bind(wanted)})) > 0"
        start, beyond = f"{value} >= {self.bind(wanted)}", after(wanted)
        return start if beyond is None else f"{start} AND {value} < {self.bind(beyond)}"


def after(prefix: str) -> str | None:
    """Where the texts with a prefix end, so that an index serves them as a range; None if nothing stands behind them.

    It is the prefix with its last code point raised by one.
    """
    stem = prefix.rstrip(chr(_LAST))
    if not stem:
        return None
    raised = ord(stem[-1]) + 1
    return stem[:-1] + chr(_SURROGATES.stop if raised in _SURROGATES else raised)


def _leaves(composed: str) -> str:
    """All that is in a list or an object with its place, as one text: alike for fields in any order and numbers however written.

    `quote` writes reals to the last bit. NULL of NULL.
    """
    number = "CASE WHEN type = 'real' AND atom = CAST(atom AS INTEGER) THEN CAST(atom AS INTEGER) ELSE atom END"
    kind = "CASE type WHEN 'real' THEN 'integer' ELSE type END"
    ordered = f"SELECT fullkey, {kind} AS kind, {number} AS atom FROM json_tree({composed}) ORDER BY fullkey"
    return f"(SELECT nullif(json_group_array(json_array(fullkey, kind, quote(atom))), '[]') FROM ({ordered}))"
