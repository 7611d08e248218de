"""Requests in SQLite's words: one statement for each, and what its rows mean.

Groups and facets are made of `matching`: of every record that the filter lets in, the values that are asked about and no more,
so that a document is read once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from storeproof.adapters.sql.answers import KeyOf, fields_of
from storeproof.adapters.sqlite.changes import with_values
from storeproof.adapters.sqlite.geo import distance
from storeproof.adapters.sqlite.query_filter import Statement, Value, at, json_path, point
from storeproof.adapters.sqlite.text import TextIndex
from storeproof.contract import FacetedPage, Json, Path, Unsupported
from storeproof.spec.query import Aggregation, Browse, Bucket, Facet, Measure, Query, SortKey, Where

Request = tuple[str, list[Any]]
"""A statement and its parameters."""


_UNITS = {"year": "%Y-01-01T00:00:00Z", "month": "%Y-%m-01T00:00:00Z", "day": "%Y-%m-%dT00:00:00Z", "hour": "%Y-%m-%dT%H:00:00Z"}
_DATE = "GLOB '????-??-??T??:??:??Z'"
"""`strftime` reads more than dates: `now` is the present to it, and a text of digits the number of a day."""
_TOTAL, _PAGE, _FACETS = 0, 1, 2
"""The parts of the answer to a `Browse`, by number: the facets follow one another."""


class Requests:
    """The statements of one table of documents, and what their rows say."""

    def __init__(self, table: str, texts: TextIndex | None) -> None:
        """`table`: quoted."""
        self._table = table
        self._texts = texts

    def find(self, query: Query) -> Request:
        return self._find(Statement(self._texts), query, "", ())

    def joined(self, query: Query, path: Path, fields: Sequence[Path]) -> Request:
        statement = Statement(self._texts)
        join = f" LEFT JOIN (SELECT k AS named, doc AS other FROM {self._table}) ON named = {at(path).only('text')}"
        return self._find(statement, query, join, ["named", *_parts(statement, "other", fields)])

    def count(self, where: Where) -> Request:
        statement = Statement(self._texts)
        return f"SELECT count(*) FROM {self._table}{statement.where(where)}", statement.parameters

    def update(self, where: Where, path: Path, value: Json) -> Request:
        statement = Statement(self._texts)
        changed = with_values(statement, {path: value})
        return f"UPDATE {self._table} SET doc = {changed}{statement.where(where)}", statement.parameters

    def delete(self, where: Where) -> Request:
        statement = Statement(self._texts)
        return f"DELETE FROM {self._table}{statement.where(where)}", statement.parameters

    def _find(self, statement: Statement, query: Query, join: str, others: Sequence[str]) -> Request:
        columns = ["k", *(["doc"] if query.fields is None else _parts(statement, "doc", query.fields))]
        source, where, needs, ranks = self._table, Where(filter=query.filter), [], []
        if query.ranked or query.highlight is not None:
            if self._texts is None:
                raise Unsupported("`ranked` and `highlight` need a text index, and there is none here")
            searches, rest = self._texts.leading(query.filter, statement.bind)
            words = self._texts.words
            source = f"{words} JOIN {self._table} ON id = {words}.rowid"
            where, needs = Where.model_construct(filter=rest), [f"{words} MATCH {searches}"]
            if query.highlight is not None:
                columns.append(self._texts.highlighted(query.highlight))
            if query.ranked:
                ranks = ["rank"]
        text = f"SELECT {', '.join([*columns, *others])} FROM {source}{join}{statement.where(where, *needs)}"
        text += order_by(query.sort, [_ordering(statement, key) for key in query.sort], ranks)
        if query.limit is not None or query.skip:
            text += f" LIMIT {statement.bind(-1 if query.limit is None else query.limit)} OFFSET {statement.bind(query.skip)}"
        return text, statement.parameters

    def aggregate(self, aggregation: Aggregation) -> Request:
        """A value and its kind for each name of `by` and `compute`; a name in both is what is computed."""
        statement = Statement(self._texts)
        groups = [_group(statement, f"g{number}", bucket) for number, bucket in enumerate(aggregation.by.values())]
        measures = [_measure(statement, f"m{number}", measure) for number, measure in enumerate(aggregation.compute.values())]
        parts: list[_Group | _Measure] = [*groups, *measures]
        identities = [f"{group.name}_id" for group in groups]
        extracted = [column for part in parts for column in part.extracted]
        needs = [group.needs for group in groups if group.needs]
        source = f"(SELECT {', '.join(['k', *extracted])} FROM {self._table}{statement.where(aggregation, *needs)}) AS matching"

        if lists := [group for group in groups if group.items]:
            # One row for each record in each of its groups: an item that a list has twice is one.
            taken = ", ".join(column for group in lists for column in group.taken)
            joined = " JOIN ".join([source, *(str(group.items) for group in lists)])
            source = f"(SELECT matching.*, {taken} FROM {joined} GROUP BY {', '.join(['k', *identities])})"
        if ranks := [measure.rank for measure in measures if measure.rank]:
            parts_of = [", ".join([*identities, f"{name} IS NULL"]) for name in ranks]
            windows = [
                f"cume_dist() OVER (PARTITION BY {part} ORDER BY {name}) AS {name}_rank" for name, part in zip(ranks, parts_of, strict=True)
            ]
            source = f"(SELECT *, {', '.join(windows)} FROM {source})"

        computed = [f"{group.name}, {group.name}_kind" for group in groups]
        computed += [f"{measure.value} AS {measure.name}, {measure.kind} AS {measure.name}_kind" for measure in measures]
        rows = f"SELECT {', '.join(computed) or 'count(*)'} FROM {source}{' GROUP BY ' if groups else ''}{', '.join(identities)}"

        columns = dict(zip((*aggregation.by, *aggregation.compute), (part.name for part in parts), strict=True))

        def of_groups(path: Path) -> Value:
            if len(path) != 1 or (name := columns.get(str(path[0]))) is None:
                raise Unsupported(f"groups have the names {', '.join(columns)}; found {path!r}")
            return Value(name, f"{name}_kind")

        shown = [f"{column}, {column}_kind" for column in columns.values()]
        having = "" if aggregation.having is None else f" WHERE {statement.holds(aggregation.having, of_groups)}"
        order = order_by(aggregation.sort, [of_groups(key.path).value for key in aggregation.sort])
        limit = "" if aggregation.limit is None else f" LIMIT {statement.bind(aggregation.limit)}"
        return f"SELECT {', '.join(shown) or '*'} FROM ({rows}){having}{order}{limit}", statement.parameters

    def groups(self, aggregation: Aggregation, rows: Sequence[Sequence[Any]]) -> list[dict[str, Json]]:
        names = list({**aggregation.by, **aggregation.compute})
        return [dict(zip(names, map(_decoded, row[::2], row[1::2]), strict=False)) for row in rows]

    def browse(self, request: Browse) -> Request:
        """Rows of `part, place, value, kind, count`, in that order: the total, the page's keys, and each facet's values."""
        statement = Statement(self._texts)
        facets = [_group(statement, f"g{number}", facet) for number, facet in enumerate(request.facets.values())]
        sorted_by = [f"s{number}" for number in range(len(request.sort))]
        extracted = [f"{sorted_on(key)} AS {name}" for key, name in zip(request.sort, sorted_by, strict=True)]
        extracted += [column for facet in facets for column in facet.extracted]
        matching = f"SELECT {', '.join(['k', *extracted])} FROM {self._table}{statement.where(request)}"

        parts = [f"SELECT {_TOTAL} AS part, 0 AS place, NULL AS value, NULL AS kind, count(*) AS n FROM matching"]
        if request.limit:
            order = order_by(request.sort, sorted_by)
            page = f"SELECT * FROM matching{order} LIMIT {statement.bind(request.limit)}"
            parts.append(f"SELECT {_PAGE}, row_number() OVER ({order.strip()}), k, NULL, NULL FROM ({page})")
        for number, (facet, asked) in enumerate(zip(facets, request.facets.values(), strict=True), _FACETS):
            parts.append(f"SELECT {number}, {_facet(statement, facet, asked)}")
        return f"WITH matching AS MATERIALIZED ({matching}) {' UNION ALL '.join(parts)} ORDER BY part, place", statement.parameters

    def page(self, request: Browse, rows: Sequence[Sequence[Any]], key_of: KeyOf) -> FacetedPage:
        total, keys = 0, []
        facets: list[list[tuple[Json, int]]] = [[] for _ in request.facets]
        for part, _place, value, kind, count in rows:
            if part == _TOTAL:
                total = count
            elif part == _PAGE:
                keys.append(key_of(value))
            else:
                facets[part - _FACETS].append((_decoded(value, kind), count))
        return FacetedPage(total, keys, dict(zip(request.facets, facets, strict=True)))


class _Group(NamedTuple):
    """What a group or a facet is by: the columns `NAME`, `NAME_kind` and `NAME_id`, the last of which tells groups apart."""

    name: str
    extracted: Sequence[str]
    """Columns of `matching`."""
    needs: str | None = None
    """What a record must have to be in any group."""
    items: str | None = None
    """Where a list is taken apart: the table of its items, to be joined with `matching`."""
    taken: Sequence[str] = ()
    """And the three columns, made of an item."""


class _Measure(NamedTuple):
    """What is computed of a group."""

    name: str
    extracted: Sequence[str]
    """Columns of `matching`."""
    value: str
    kind: str
    rank: str | None = None
    """The column of which the ordered values' shares are needed, as `RANK_rank`."""


def _group(statement: Statement, name: str, bucket: Bucket) -> _Group:
    found = at(bucket.path)
    if bucket.each:
        items, item = statement.items(f"{name}_list")
        return _Group(name, [f"{found.only('list')} AS {name}_list"], items=items, taken=_three(name, item, item.identity()))
    if bucket.width is not None:
        width = statement.bind(float(bucket.width))
        ranged = f"floor({found.only('number')} / {width}) * {width}"
        return _Group(name, _three(name, Value(ranged, "'real'"), ranged), needs=found.of("number"))
    if bucket.unit is not None:
        date = f"CASE WHEN {found.of('text')} AND {found.value} {_DATE} THEN {found.value} END"
        first = f"strftime({statement.bind(_UNITS[bucket.unit])}, {date})"
        return _Group(name, _three(name, Value(first, "'text'"), first), needs=f"{first} IS NOT NULL")
    return _Group(name, _three(name, Value(found.value, f"coalesce({found.kind}, 'null')"), found.identity()))


def _three(name: str, found: Value, identity: str) -> list[str]:
    return [f"{found.value} AS {name}", f"{found.kind} AS {name}_kind", f"{identity} AS {name}_id"]


def _measure(statement: Statement, name: str, measure: Measure) -> _Measure:
    if measure.path is None:
        return _Measure(name, (), "count(*)", "'integer'")
    found, column = at(measure.path), f"{name}_of"
    if measure.function in ("min", "max"):
        # Values of one type have kinds in the order of the values: false before true.
        kind = f"CASE WHEN {found.value} IS NOT NULL THEN {found.kind} END"
        extracted = [f"{found.value} AS {column}", f"{kind} AS {column}_kind"]
        return _Measure(name, extracted, f"{measure.function}({column})", f"coalesce({measure.function}({column}_kind), 'null')")
    if measure.function == "distinct":
        return _Measure(name, [f"{found.identity()} AS {column}"], f"count(DISTINCT {column})", "'integer'")
    extracted = [f"{found.only('number')} AS {column}"]
    if measure.function == "percentile":
        if measure.kind == "interpolated":
            raise Unsupported("SQLite has no percentile function; cume_dist only ranks existing values and does not interpolate")
        value = f"min({column}) FILTER (WHERE {column}_rank >= {statement.bind(measure.share)})"
        return _Measure(name, extracted, value, f"typeof({value})", column)
    value = f"{measure.function}({column})"
    return _Measure(name, extracted, value, f"typeof({value})")


def _facet(statement: Statement, facet: _Group, asked: Facet) -> str:
    """All but the number of the part. A record counts once, so that of a list's items it is the keys that are counted."""
    name = facet.name
    columns = ", ".join(facet.taken or (name, f"{name}_kind", f"{name}_id"))
    source = f"matching JOIN {facet.items}" if facet.items else "matching"
    order = f"ORDER BY n DESC, {name}_id"
    counted = f"SELECT {columns}, count({'DISTINCT k' if facet.items else '*'}) AS n FROM {source} WHERE {name}_id IS NOT NULL"
    limit = "" if asked.limit is None else f" {order} LIMIT {statement.bind(asked.limit)}"
    return f"row_number() OVER ({order}), {name}, {name}_kind, n FROM ({counted} GROUP BY {name}_id{limit})"


def _parts(statement: Statement, source: str, fields: Sequence[Path]) -> list[str]:
    return [f"{source} -> {statement.bind(json_path(path))}" for path in fields_of(fields)]


def _ordering(statement: Statement, key: SortKey) -> str:
    if key.collation is not None:
        raise Unsupported("SQLite sorts text by bytes, or ASCII letters case-insensitively; other collations need an extension (ICU)")
    return sorted_on(key) if key.origin is None else distance(*point(at, key.path), key.origin, statement.bind)


def sorted_on(key: SortKey) -> str:
    """What a table is sorted by."""
    return at(key.path).value if key.path else "k"


def order_by(sort: Sequence[SortKey], expressions: Sequence[str], before: Sequence[str] = ()) -> str:
    """The clause for a sort, by other expressions before it. Where it is left open, NULL is the smallest to SQLite."""
    terms = [
        *before,
        *(
            f"{expression} {key.order.upper()}{f' NULLS {key.nulls.upper()}' if key.nulls else ''}"
            for key, expression in zip(sort, expressions, strict=True)
        ),
    ]
    return f" ORDER BY {', '.join(terms)}" if terms else ""


def _decoded(value: Any, kind: str | None) -> Json:
    if kind in ("true", "false"):
        return kind == "true"
    return json.loads(value) if kind in ("array", "object") else cast(Json, value)
