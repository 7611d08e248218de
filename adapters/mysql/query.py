"""Requests to MySQL and MariaDB: one statement each, which the server works out alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from storeproof.adapters.mysql import decimals as decimals
from storeproof.adapters.mysql.changes import replaced
from storeproof.adapters.mysql.columns import Column
from storeproof.adapters.mysql.filter import Filters
from storeproof.adapters.mysql.json import DOC, Dialect, Sql, extract, joined, sql, there
from storeproof.adapters.mysql.text import Texts
from storeproof.adapters.sql.answers import KeyOf, fields_of, of_rows
from storeproof.contract import Json, Key, Path, Refused, Unsupported
from storeproof.contract.values import FacetedPage
from storeproof.spec.query import Aggregation, Browse, Bucket, Condition, Measure, Query, SortKey, Where

_FIRST_SECOND = {
    "year": "%Y-01-01T00:00:00Z",
    "month": "%Y-%m-01T00:00:00Z",
    "day": "%Y-%m-%dT00:00:00Z",
    "hour": "%Y-%m-%dT%H:00:00Z",
}

_COUNT = Measure(function="count")
_THERE = Condition(path=("value",), operator="ne", value=None)
_MOST_FIRST = (SortKey(path=("n",), order="desc"), SortKey(path=("value",), order="asc"))

_NO_LIMIT = 2**64 - 1
"""LIMIT's way to say no limit, from the manual."""


class Requests:
    """The statements of one collection of documents, and what their answers say."""

    def __init__(
        self, table: str, text_keys: bool, dialect: Dialect, columns: Mapping[Path, Column], texts: Texts, exact: Collection[Path]
    ) -> None:
        self._table = Sql(table)
        self._text = text_keys
        self._dialect = dialect
        self._records = Filters(dialect, lambda path: extract(DOC, path), columns, texts, exact=exact)
        self._exact = exact

    def find(self, query: Query) -> Sql:
        """Rows of key and document, or of key and parts."""
        return sql("SELECT {} FROM {}{}", joined(", ", [Sql("k"), *_wanted(DOC, query.fields)]), self._matching(query), self._page(query))

    def joined(self, query: Query, path: Path, fields: Sequence[Path]) -> Sql:
        """Rows of key, document or parts, the key of the other one, and its parts."""
        if not self._text:
            raise Unsupported("the keys are numbers, so a text cannot refer to one")
        place = _place(self._order(query))
        page = sql("SELECT k, doc, {} FROM {}{}", place, self._matching(query), self._page(query))
        named = self._dialect.text(extract(Sql("r.doc"), path))
        columns = [Sql("r.k"), *_wanted(Sql("r.doc"), query.fields), Sql("o.k"), *_wanted(Sql("o.doc"), fields)]
        both = sql("({}) AS r LEFT JOIN {} AS o ON o.k = CAST({} AS BINARY)", page, self._table, named)
        return sql("SELECT {} FROM {} ORDER BY r.place", joined(", ", columns), both)

    def count(self, where: Where) -> Sql:
        return sql("SELECT COUNT(*) FROM {}", self._matching(where))

    def update(self, where: Where, path: Path, value: Json) -> Sql:
        """The server refuses it where one of the records has no parent of the path."""
        return sql("UPDATE {} SET doc = {} WHERE {}", self._table, replaced({path: value}), self._records.sql(where.filter))

    def delete(self, where: Where) -> Sql:
        return sql("DELETE FROM {}", self._matching(where))

    def aggregate(self, request: Aggregation) -> Sql:
        """Rows of JSON, in the order of the names, and one value more."""
        groups, filters = self._groups(self._table, request)
        return sql("SELECT * FROM {}{}", groups, _order_by(filters.order(request.sort), request.limit))

    def groups(self, request: Aggregation, rows: Sequence[Sequence[Any]]) -> list[dict[str, Json]]:
        names = [*request.by, *request.compute]
        exact = of_rows(request, self._exact)
        return [{name: decimals.read(value, exact, (name,)) for name, value in zip(names, row, strict=False)} for row in rows]

    def browse(self, request: Browse) -> Sql:
        """Rows of total, page and facets: which of them, the place in it, key, value, number."""
        found = Sql("found")
        arms = [sql("SELECT 0 AS part, 0 AS place, NULL AS k, NULL AS value, COUNT(*) AS n FROM found")]
        if request.limit:
            place = _place(self._records.order(request.sort, Sql("k")))
            arms.append(sql("(SELECT 1, {}, k, NULL, NULL FROM found ORDER BY place LIMIT {})", place, request.limit))
        for number, facet in enumerate(request.facets.values(), 2):
            counted = Aggregation(by={"value": facet}, compute={"n": _COUNT}, having=_THERE)
            groups, filters = self._groups(found, counted)
            limit = facet.limit or _NO_LIMIT
            place = _place(filters.order(_MOST_FIRST))
            arms.append(sql("(SELECT {}, {}, NULL, c0, c1 FROM {} ORDER BY place LIMIT {})", number, place, groups, limit))
        matching = self._matching(request)
        return sql("WITH found AS (SELECT k, doc FROM {}) {} ORDER BY part, place", matching, joined(" UNION ALL ", arms))

    def page(self, request: Browse, rows: Sequence[Sequence[Any]], key_of: KeyOf) -> FacetedPage:
        facets: list[list[tuple[Json, int]]] = [[] for _ in request.facets]
        paths = [facet.path for facet in request.facets.values()]
        keys: list[Key] = []
        for part, _, key, value, number in rows[1:]:
            if part == 1:
                keys.append(key_of(key))
            else:
                facets[part - 2].append((decimals.read(value, self._exact, paths[part - 2]), int(number)))
        return FacetedPage(int(rows[0][4]), keys, dict(zip(request.facets, facets, strict=True)))

    def _matching(self, where: Where) -> Sql:
        return sql("{} WHERE {}", self._table, self._records.sql(where.filter))

    def _order(self, query: Query) -> list[Sql]:
        order = self._records.order(query.sort, Sql("k"))
        return [sql("{} DESC", self._records.relevance(query.filter)), *order] if query.ranked else order

    def _page(self, query: Query) -> Sql:
        if query.highlight is not None:
            raise Unsupported("the server does not highlight words")
        order = _order_by(self._order(query), query.limit or (_NO_LIMIT if query.skip else None))
        return sql("{} OFFSET {}", order, query.skip) if query.skip else order

    def _groups(self, source: Sql, request: Aggregation) -> tuple[Sql, Filters]:
        """The groups that are meant, as the tables and conditions of a SELECT: a column `c0`, `c1` ... of JSON for each name."""
        buckets = list(request.by.values())
        records = self._bucketed(source, request, buckets)
        same = joined(", ", (self._dialect.same(Sql(f"g{number}")) for number in range(len(buckets))))
        measures = list(request.compute.values())
        if any(measure.share is not None for measure in measures):
            records = self._with_percentiles(records, measures, [same] if buckets else [])
        values = [Sql(f"g{number}") for number in range(len(buckets))]
        values += [self._measured(measure, number) for number, measure in enumerate(measures)]
        columns = [sql(f"{{}} AS c{number}", value) for number, value in enumerate(values)]
        # The count makes one row of all records where there is nothing to group by.
        groups = sql("SELECT {} FROM ({}) AS r", joined(", ", [*columns, Sql("COUNT(*) AS size")]), records)
        if buckets:
            groups = sql("{} GROUP BY {}", groups, same)
        names = {name: Sql(f"c{number}") for number, name in enumerate([*request.by, *request.compute])}
        filters = Filters(self._dialect, lambda path: _of_group(names, path), {}, exact=of_rows(request, self._exact))
        return sql("({}) AS g WHERE {}", groups, filters.sql(request.having)), filters

    def _with_percentiles(self, records: Sql, measures: Sequence[Measure], groups: Sequence[Sql]) -> Sql:
        found = [
            sql(f"{{}} AS p{number}", self._dialect.percentile(measure, self._number(measure.path, Sql(f"m{number}")), groups))
            for number, measure in enumerate(measures)
            if measure.share is not None
        ]
        return sql("SELECT r.*, {} FROM ({}) AS r", joined(", ", found), records)

    def _bucketed(self, source: Sql, request: Aggregation, buckets: Sequence[Bucket]) -> Sql:
        """A SELECT of the records with what they are grouped by, `g0`, `g1` ..., and what is computed of, `m0`, `m1` ..."""
        tables, conditions, columns, items = [source], [self._records.sql(request.filter)], [Sql("k")], [Sql("k")]
        for number, bucket in enumerate(buckets):
            value = self._records.at(bucket.path)
            if bucket.each:
                tables.append(self._dialect.items(value, f"e{number}"))
                value = self._dialect.item(f"e{number}")
                items.append(self._dialect.same(value))
            elif bucket.width is not None:
                number_there = self._number(bucket.path, value)
                conditions.append(sql("{} IS NOT NULL", number_there))
                value = self._dialect.from_number(sql("FLOOR({} / {}) * {}", number_there, bucket.width, bucket.width))
            elif bucket.unit is not None:
                moment = sql("STR_TO_DATE({}, {})", self._dialect.text(value), "%Y-%m-%dT%H:%i:%sZ")
                conditions.append(sql("{} IS NOT NULL", moment))
                value = self._dialect.from_text(sql("DATE_FORMAT({}, {})", moment, _FIRST_SECOND[bucket.unit]))
            else:
                if bucket.path in self._exact:
                    value = decimals.to_text(self._dialect, decimals.exact(self._dialect, value))
                value = sql("COALESCE({}, {})", value, self._dialect.null)
            columns.append(sql(f"{{}} AS g{number}", value))
        for number, measure in enumerate(request.compute.values()):
            if measure.path is not None:
                columns.append(sql(f"{{}} AS m{number}", self._records.at(measure.path)))
        records = sql("SELECT {} FROM {} WHERE {}", joined(", ", columns), joined(" JOIN ", tables), joined(" AND ", conditions))
        # An item that a list has twice counts once.
        return sql("{} GROUP BY {}", records, joined(", ", items)) if len(items) > 1 else records

    def _measured(self, measure: Measure, number: int) -> Sql:
        value = Sql(f"m{number}")
        if measure.path in self._exact:
            return self._of_decimals(measure, number)
        match measure.function:
            case "count":
                found = self._dialect.from_number(Sql("COUNT(*)"))
            case "distinct":
                found = self._dialect.from_number(sql("COUNT(DISTINCT {})", self._dialect.same(there(value))))
            case "percentile":
                found = self._dialect.from_number(Sql(f"MIN(p{number})"))
            case "min" | "max" as function:
                found = self._dialect.extreme(function.upper(), value)
            case "sum" | "avg" as function:
                found = self._dialect.from_number(sql(f"{function.upper()}({{}})", self._dialect.number(value)))
        return sql("COALESCE({}, {})", found, self._dialect.null)

    def _of_decimals(self, measure: Measure, number: int) -> Sql:
        value = decimals.exact(self._dialect, Sql(f"m{number}"))
        if measure.function == "distinct":
            return self._dialect.from_number(sql("COUNT(DISTINCT {})", value))
        found = Sql(f"MIN(p{number})") if measure.function == "percentile" else sql(f"{measure.function.upper()}({{}})", value)
        return sql("COALESCE({}, {})", decimals.to_text(self._dialect, found), self._dialect.null)

    def _number(self, path: Path | None, value: Sql) -> Sql:
        return decimals.exact(self._dialect, value) if path in self._exact else self._dialect.number(value)


def _wanted(document: Sql, fields: Sequence[Path] | None) -> list[Sql]:
    """The document, or the parts of it that are asked for."""
    return [document] if fields is None else [extract(document, path) for path in fields_of(fields)]


def _of_group(names: Mapping[str, Sql], path: Path) -> Sql:
    """The value of a group under a name, or inside it."""
    name = str(path[0]) if path else ""
    if name not in names:
        raise Refused(f"a group has no {name!r}; it has {', '.join(names)}")
    return extract(names[name], path[1:])


def _order_by(keys: Sequence[Sql], limit: int | None) -> Sql:
    order = sql(" ORDER BY {}", joined(", ", keys)) if keys else Sql("")
    return order if limit is None else sql("{} LIMIT {}", order, limit)


def _place(keys: Sequence[Sql]) -> Sql:
    return sql("ROW_NUMBER() OVER ({}) AS place", sql("ORDER BY {}", joined(", ", keys)) if keys else Sql(""))
