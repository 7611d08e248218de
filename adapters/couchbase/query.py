"""Couchbase's SQL++ (N1QL) for the query language. Pure: text and named parameters, nothing is sent.

SQL++ knows four values of truth: a comparison on null is null, on nothing is missing, and `NOT` leaves both as they are.
The query language knows two. In a WHERE both are taken for false, so only what stands behind a `NOT` is made one of
two first; everything else stays as an index can use it. And SQL++ puts values of different types in one order, where
the query language has none: so `<` and its kin also ask for the type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from storeproof.contract import Unsupported
from storeproof.spec.query import (
    Aggregation,
    And,
    Browse,
    Bucket,
    Condition,
    Facet,
    FieldPath,
    Filter,
    Measure,
    Not,
    Or,
    Query,
    SortKey,
    Where,
)

_SIGNS: Final = {"eq": "=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_TYPES: Final = {"text": "string", "list": "array"}
"""Where TYPE() has another word than the query language."""

_UNITS: Final = {"year": (4, "-01-01T00:00:00Z"), "month": (7, "-01T00:00:00Z"), "day": (10, "T00:00:00Z"), "hour": (13, ":00:00Z")}
"""How much of a date's text names its unit, and what makes that the unit's first second."""

_FUNCTIONS: Final = {"sum": "SUM({})", "min": "MIN({})", "max": "MAX({})", "avg": "AVG({})", "distinct": "COUNT(DISTINCT {})"}


def quoted(name: str) -> str:
    """A name as an identifier, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def at(root: str, path: Sequence[str | int]) -> str:
    """The expression for the value at a path; missing where there is none. Lists are not passed through."""
    parts = []
    for part in path:
        if isinstance(part, int) and part < 0:
            raise Unsupported("in SQL++ a negative position counts from the end")
        parts.append(f"[{part}]" if isinstance(part, int) else f".{quoted(part)}")
    return root + "".join(parts)


class Statement:
    """One statement in the making: `d` is the document, and values go into named parameters."""

    def __init__(self, keyspace: str, *, integer_keys: bool = False) -> None:
        self.keyspace = keyspace
        self.parameters: dict[str, Any] = {}
        self._integer_keys = integer_keys
        self._variables = 0

    def find(self, query: Query) -> str:
        """Rows of `k`, the document's id, and `r`, its parts."""
        if query.ranked or query.highlight is not None:
            raise Unsupported("text and geospatial queries need the search service, which this adapter does not use")
        parts = "d" if query.fields is None else projected("d", query.fields)
        text = f"SELECT META(d).id AS k, {parts} AS r FROM {self.keyspace} AS d{self.where(query)}{self.order(query.sort)}"
        return text + (f" LIMIT {query.limit}" if query.limit is not None else "") + (f" OFFSET {query.skip}" if query.skip else "")

    def count(self, where: Where) -> str:
        return f"SELECT RAW COUNT(*) FROM {self.keyspace} AS d{self.where(where)}"

    def scan(self, start: str | int | None, count: int, backwards: bool) -> str:
        """Rows as of `find`, in the order of the keys."""
        bound = ""
        if start is not None:
            bound = f" WHERE {self._key()} {'<=' if backwards else '>='} {self.value(start)}"
        order = "DESC" if backwards else "ASC"
        return f"SELECT META(d).id AS k, d AS r FROM {self.keyspace} AS d{bound} ORDER BY {self._key()} {order} LIMIT {count}"

    def scan_prefix(self, prefix: str, count: int) -> str:
        """Rows as of `find`, in the order of the keys."""
        like = self.value(_pattern(prefix))
        return f"SELECT META(d).id AS k, d AS r FROM {self.keyspace} AS d WHERE META(d).id LIKE {like} ORDER BY META(d).id LIMIT {count}"

    def get_many(self, keys: Sequence[str]) -> str:
        """Rows as of `find`, in any order; none for a key that is not there."""
        return f"SELECT META(d).id AS k, d AS r FROM {self.keyspace} AS d USE KEYS {self.value(list(keys))}"

    def update(self, where: Where, path: FieldPath, value: Any) -> str:
        """Answers no rows; the count is in the metrics."""
        return f"UPDATE {self.keyspace} AS d SET {at('d', path)} = {self.value(value)}{self.where(where)}"

    def pull(self, name: str, path: FieldPath, value: Any) -> str:
        """Answers no rows; the count is 0 where there is no list."""
        items, item = at("d", path), self._variable()
        kept = f"ARRAY {item} FOR {item} IN {items} WHEN {self._compared(item, 'ne', value)} END"
        return self._list_set(name, items, kept)

    def add_to_set(self, name: str, path: FieldPath, value: Any) -> str:
        items = at("d", path)
        added = f"ARRAY_APPEND({items}, {self.value(value)})"
        return self._list_set(name, items, f"CASE WHEN {self._has(items, value)} THEN {items} ELSE {added} END")

    def _list_set(self, name: str, items: str, value: str) -> str:
        return f"UPDATE {self.keyspace} AS d USE KEYS {self.value(name)} SET {items} = {value} WHERE IS_ARRAY({items})"

    def delete(self, where: Where) -> str:
        """Answers no rows; the count is in the metrics."""
        return f"DELETE FROM {self.keyspace} AS d{self.where(where)}"

    def aggregate(self, aggregation: Aggregation) -> str:
        """Rows of the names. The groups are made inside, so that their names can be asked and sorted by outside."""
        sources, keys, guards = [f"{self.keyspace} AS d"], {}, []
        for name, bucket in aggregation.by.items():
            key, source, guard = self._bucket("d", bucket)
            keys[name] = f"IFMISSING({key}, NULL)"
            sources += [source] if source else []
            guards += [guard] if guard else []
        chosen = [f"{key} AS {quoted(name)}" for name, key in keys.items()]
        chosen += [f"{_measure(each)} AS {quoted(name)}" for name, each in aggregation.compute.items()]
        if not chosen:
            raise Unsupported("SQL++ requires a name for each group")
        inner = f"SELECT {', '.join(chosen)} FROM {' '.join(sources)}{self.where(aggregation, guards)}"
        inner += f" GROUP BY {', '.join(keys.values())}" if keys else ""
        having = f" WHERE {self.filter('g', aggregation.having)}" if aggregation.having is not None else ""
        limit = f" LIMIT {aggregation.limit}" if aggregation.limit is not None else ""
        return f"SELECT RAW g FROM ({inner}) AS g{having}{self.order(aggregation.sort, 'g')}{limit}"

    def browse(self, browse: Browse) -> str:
        """One row: `total`, `keys`, and the facets as lists of `v` and `n`. What matches is found once."""
        order = self.order(browse.sort, "m.d", "m.k")
        page = f"(SELECT RAW m.k FROM matching AS m{order} LIMIT {browse.limit})" if browse.limit else "[]"
        facets = ", ".join(f"{_literal(name)}: ({self._facet(facet)})" for name, facet in browse.facets.items())
        return (
            f"WITH matching AS (SELECT {self._key()} AS k, d FROM {self.keyspace} AS d{self.where(browse)}) "
            f"SELECT (SELECT RAW COUNT(*) FROM matching AS m)[0] AS total, {page} AS `keys`, {{{facets}}} AS facets"
        )

    def where(self, where: Where, further: Sequence[str] = ()) -> str:
        parts = [self.filter("d", where.filter)] if where.filter is not None else []
        return f" WHERE {' AND '.join([*parts, *further])}" if parts or further else ""

    def order(self, keys: Sequence[SortKey], root: str = "d", key: str = "") -> str:
        """The clause, or nothing. Missing is made null, since the two are equal to the query language."""
        written = []
        for each in keys:
            if each.origin is not None:
                raise Unsupported("sorting by distance needs the search service, which this adapter does not use")
            if each.collation is not None:
                raise Unsupported("SQL++ sorts text by code point and has no language-specific collations")
            value = f"IFMISSING({at(root, each.path)}, NULL)" if each.path else (key or self._key())
            nulls = f" NULLS {each.nulls.upper()}" if each.nulls is not None else ""
            written.append(f"{value} {each.order.upper()}{nulls}")
        return f" ORDER BY {', '.join(written)}" if written else ""

    def filter(self, root: str, node: Filter) -> str:
        """True where the filter holds; false, null or missing where it does not."""
        if isinstance(node, Not):
            return f"NOT IFMISSINGORNULL({self.filter(root, node.part)}, FALSE)"
        if isinstance(node, And):
            return "(" + (" AND ".join(self.filter(root, part) for part in node.parts) or "TRUE") + ")"
        if isinstance(node, Or):
            return "(" + (" OR ".join(self.filter(root, part) for part in node.parts) or "FALSE") + ")"
        return self._condition(root, node)

    def value(self, value: Any) -> str:
        """A named parameter that stands for the value."""
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"

    def _key(self) -> str:
        """An id is a text; integer keys are compared and sorted as numbers."""
        return "TO_NUMBER(META(d).id)" if self._integer_keys else "META(d).id"

    def _variable(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def _condition(self, root: str, condition: Condition) -> str:
        value, wanted = at(root, condition.path), condition.value
        match condition.operator:
            case "eq" | "ne" | "lt" | "lte" | "gt" | "gte":
                return self._compared(value, condition.operator, wanted)
            case "in":
                return "(" + (" OR ".join(self._compared(value, "eq", each) for each in wanted) or "FALSE") + ")"
            case "exists":
                return f"{value} IS {'NOT ' if wanted else ''}MISSING"
            case "type":
                return f"TYPE({value}) = {self.value(_TYPES.get(wanted, wanted))}"
            case "any":
                return self._any(value, lambda item: self._compared(item, wanted.operator, wanted.value))
            case "all":
                return "(" + " AND ".join([f"IS_ARRAY({value})", *[self._has(value, each) for each in wanted]]) + ")"
            case "size":
                return f"(IS_ARRAY({value}) AND ARRAY_LENGTH({value}) = {self.value(wanted)})"
            case "element":
                return self._any(value, lambda item: f"(IS_OBJECT({item}) AND {self.filter(item, wanted)})")
            case "prefix" | "contains" | "regex" | "ieq" | "icontains":
                return self._text(value, condition.operator, wanted)
            case _:
                raise Unsupported("text queries need the search service, which this adapter does not use")

    def _compared(self, value: str, operator: str, wanted: Any) -> str:
        if operator == "ne":
            return f"NOT IFMISSINGORNULL({self._compared(value, 'eq', wanted)}, FALSE)"
        if operator == "eq":
            return f"{value} IS NULL" if wanted is None else f"{value} = {self.value(wanted)}"
        kind = "IS_STRING" if isinstance(wanted, str) else "IS_NUMBER"
        return f"({kind}({value}) AND {value} {_SIGNS[operator]} {self.value(wanted)})"

    def _any(self, value: str, asked: Callable[[str], str]) -> str:
        """An item of a list for which it holds. Of anything that is no list, ANY is not true."""
        item = self._variable()
        return f"ANY {item} IN {value} SATISFIES {asked(item)} END"

    def _has(self, value: str, wanted: Any) -> str:
        return self._any(value, lambda item: self._compared(item, "eq", wanted))

    def _text(self, value: str, operator: str, wanted: str) -> str:
        if operator == "prefix":  # LIKE, since an index can be used for it
            return f"{value} LIKE {self.value(_pattern(wanted))}"
        if operator == "contains":
            return f"CONTAINS({value}, {self.value(wanted)})"
        if operator == "regex":
            return f"REGEXP_CONTAINS({value}, {self.value(wanted)})"
        if operator == "ieq":
            return f"LOWER({value}) = LOWER({self.value(wanted)})"
        return f"CONTAINS(LOWER({value}), LOWER({self.value(wanted)}))"

    def _bucket(self, root: str, bucket: Bucket) -> tuple[str, str, str]:
        """What names the group, what has to be joined for it, and which records have none."""
        value, source, guard = at(root, bucket.path), "", ""
        if bucket.each:
            item = self._variable()
            # UNNEST leaves out what is no list, or an empty one.
            source, value = f"UNNEST ARRAY_DISTINCT({value}) AS {item}", item
        if bucket.width is not None:
            width = self.value(bucket.width)
            value, guard = f"FLOOR({value} / {width}) * {width}", f"IS_NUMBER({value})"
        elif bucket.unit is not None:
            length, rest = _UNITS[bucket.unit]
            value, guard = f"SUBSTR({value}, 0, {length}) || {self.value(rest)}", f"IS_STRING({value})"
        return value, source, guard

    def _facet(self, facet: Facet) -> str:
        value, source, guard = self._bucket("m.d", facet)
        text = f"SELECT {value} AS v, COUNT(*) AS n FROM matching AS m {source}".rstrip()
        text += f" WHERE {guard or f'{value} IS NOT NULL'}"
        text += f" GROUP BY {value} ORDER BY n DESC, v"
        return text + (f" LIMIT {facet.limit}" if facet.limit is not None else "")


def projected(root: str, paths: Sequence[FieldPath]) -> str:
    """An object with the parts of a document, each where it was; what is missing is left out, and with it an object of nothing else."""
    if any(isinstance(part, int) for path in paths for part in path):
        raise Unsupported("a projection cannot return a list item at its position")
    tree: dict[str, Any] = {}
    whole = [path for path in paths if not any(path[:length] in paths for length in range(1, len(path)))]
    for path in whole:
        node = tree
        for part in path[:-1]:
            node = node.setdefault(str(part), {})
        node[str(path[-1])] = None
    return _object(root, tree, ())


def _object(root: str, tree: Mapping[str, Any], path: tuple[str, ...]) -> str:
    # An object leaves out fields whose value is missing.
    written = [f"{_literal(name)}: {_part(root, below, (*path, name))}" for name, below in tree.items()]
    return "{" + ", ".join(written) + "}"


def _part(root: str, below: Mapping[str, Any] | None, path: tuple[str, ...]) -> str:
    if below is None:
        return at(root, path)
    made = _object(root, below, path)
    return f"CASE WHEN OBJECT_LENGTH({made}) > 0 THEN {made} ELSE MISSING END"


def _pattern(prefix: str) -> str:
    """What LIKE wants for texts that begin so."""
    return prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def _literal(text: str) -> str:
    """A text in double quotes: the same as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def _measure(measure: Measure) -> str:
    if measure.function == "count":
        return "COUNT(*)"
    if measure.path is None or measure.function not in _FUNCTIONS:
        raise Unsupported(f"SQL++ has no {measure.function}")
    return _FUNCTIONS[measure.function].format(at("d", measure.path))
