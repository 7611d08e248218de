"""Requests to MySQL and MariaDB: one statement each, which the server works out alone.

A condition is true where the filter holds, and false or NULL where it does not; `IS NOT TRUE` turns it round. An index's column
(see `mysql.Documents`) stands in for the JSON where it says the same: numbers within 2**53, texts within its length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storeproof.adapters.mysql_json import DOC, EXACT, SYMBOLS, Dialect, MariaDb, MySql, Sql, extract, joined, of_type, replaced, sql, there
from storeproof.contract import Json, Key, Layout, Path, Refused, Unsupported
from storeproof.contract.values import Found
from storeproof.spec.model import Document, Integer, Real
from storeproof.spec.query import Aggregation, And, Browse, Bucket, Condition, Filter, Measure, Not, Or, Query, SortKey, Where

INDEXED = 191
"""Characters of a text that are indexed: of four bytes each, they fit into every engine's index."""

_FIRST_SECOND = {
    "year": "%Y-01-01T00:00:00Z",
    "month": "%Y-%m-01T00:00:00Z",
    "day": "%Y-%m-%dT00:00:00Z",
    "hour": "%Y-%m-%dT%H:00:00Z",
}

_ON_TEXT = ("prefix", "contains", "regex", "ieq", "icontains")

_COUNT = Measure(function="count")
_THERE = Condition(path=("value",), operator="ne", value=None)
_MOST_FIRST = (SortKey(path=("n",), order="desc"), SortKey(path=("value",), order="asc"))

_NOBODY_SAYS = 2**64 - 1
"""LIMIT's way to say no limit, from the manual."""


class _Filters:
    """Conditions on what paths lead to: in a record, in an item of a list, in a group."""

    def __init__(self, dialect: Dialect, at: Callable[[Path], Sql], columns: Mapping[Path, tuple[str, str]], depth: int = 0) -> None:
        self._dialect = dialect
        self.at = at
        self._columns = columns
        self._alias = f"j{depth}"
        self._depth = depth

    def sql(self, condition: Filter | None) -> Sql:
        """What a WHERE says of a filter."""
        match condition:
            case None:
                return Sql("TRUE")
            case And(parts=parts):
                return self._of_parts(" AND ", list(map(self.sql, parts)), "TRUE")
            case Or(parts=parts):
                return self._of_parts(" OR ", list(map(self.sql, parts)), "FALSE")
            case Not(part=part):
                return self._opposite(self.sql(part))
        return self._condition(condition)

    def _of_parts(self, word: str, parts: Sequence[Sql], of_none: str) -> Sql:
        return sql("({})", joined(word, parts)) if parts else Sql(of_none)

    def _opposite(self, condition: Sql) -> Sql:
        return sql("({}) IS NOT TRUE", condition)

    def _condition(self, condition: Condition) -> Sql:
        indexed = self._by_index(condition)
        if indexed is not None:
            return indexed
        operator, wanted = condition.operator, condition.value
        if operator == "ne":
            return self._opposite(self._condition(condition.model_copy(update={"operator": "eq"})))
        value = self.at(condition.path)
        if operator in _ON_TEXT:
            return self._on_text(operator, self._dialect.text(value), wanted)
        if operator in ("any", "all", "size", "element"):
            return self._on_list(operator, value, wanted)
        match operator:
            case "eq":
                return self._dialect.equal(value, wanted)
            case "in":
                return self._of_parts(" OR ", [self._dialect.equal(value, each) for each in wanted], "FALSE")
            case "exists":
                return sql("{} IS NOT NULL" if wanted else "{} IS NULL", value)
            case "type":
                return of_type(value, wanted)
        return self._dialect.compared(value, operator, wanted)

    def _on_text(self, operator: str, text: Sql, wanted: str) -> Sql:
        match operator:
            case "prefix":
                return sql("{} LIKE {} ESCAPE '|'", text, _begins(wanted))
            case "contains":
                return sql("LOCATE({}, {}) > 0", wanted, text)
            case "ieq":
                return sql("LOWER({}) = LOWER({})", text, wanted)
            case "icontains":
                return sql("LOCATE(LOWER({}), LOWER({})) > 0", wanted, text)
        return self._dialect.matches(text, wanted)

    def _on_list(self, operator: str, value: Sql, wanted: Any) -> Sql:
        is_list = of_type(value, "list")
        match operator:
            case "size":
                return sql("({} AND JSON_LENGTH({}) = {})", is_list, value, wanted)
            case "all":
                return self._of_parts(" AND ", [is_list, *(self._dialect.has_item(value, each) for each in wanted)], "TRUE")
            case "any" if wanted.operator == "eq":
                return self._dialect.has_item(value, wanted.value)
        item = self._dialect.item(self._alias)
        of_item = _Filters(self._dialect, lambda path: extract(item, path), {}, self._depth + 1)
        if operator == "any":
            meets = of_item.sql(Condition(path=(), operator=wanted.operator, value=wanted.value))
        else:
            meets = sql("{} AND {}", of_type(item, "object"), of_item.sql(wanted))
        return self._dialect.some(value, self._alias, meets)

    def _by_index(self, condition: Condition) -> Sql | None:
        """The condition on the path's index, if that says the same."""
        column, kind = self._columns.get(condition.path, ("", ""))
        values = condition.value if condition.operator == "in" else (condition.value,)
        if not column or not values or not all(_fits(value, kind) for value in values):
            return None
        name = Sql(column)
        if condition.operator == "in":
            return sql("{} IN ({})", name, joined(", ", (sql("{}", value) for value in values)))
        if condition.operator in SYMBOLS:
            return sql(f"{{}} {SYMBOLS[condition.operator]} {{}}", name, condition.value)
        return sql("{} LIKE {} ESCAPE '|'", name, _begins(condition.value)) if condition.operator == "prefix" else None

    def order(self, keys: Sequence[SortKey], key: Sql | None = None) -> list[Sql]:
        """What to ORDER BY; `key` is the record's, a group has none."""
        found: list[Sql] = []
        for each in keys:
            direction = " DESC" if each.order == "desc" else ""
            if not each.path and key is not None:
                found.append(sql(f"{{}}{direction}", key))
                continue
            value = self.at(each.path)
            if each.nothing:
                found.append(sql(f"COALESCE(JSON_TYPE({{}}), 'NULL') = 'NULL'{' DESC' if each.nothing == 'first' else ''}", value))
            found += [sql(f"{{}}{direction}", expression) for expression in self._dialect.order(value)]
        return found


class Requests:
    """The statements of one collection of documents, and what their answers say."""

    def __init__(self, table: str, layout: Layout, mariadb: bool) -> None:
        self._table = Sql(table)
        self._text = layout.model.key == "text"
        self._dialect = MariaDb() if mariadb else MySql()
        self._columns: dict[Path, tuple[str, str]] = {path: (f"x{n}", _kind(layout, path)) for n, path in enumerate(layout.indexed)}
        self._records = _Filters(self._dialect, lambda path: extract(DOC, path), self._columns)

    def index(self, number: int, path: Path) -> Sql:
        """The part of CREATE TABLE that makes an index: a column of the path's numbers or texts, as the model has them there."""
        name, kind = self._columns[path]
        value = extract(DOC, path)
        if kind == "number":
            made = sql("{} DOUBLE AS ({})", Sql(name), self._dialect.number(value))
        else:
            kept = f"VARCHAR({INDEXED}) CHARACTER SET utf8mb4 COLLATE {self._dialect.collation}"
            made = sql(f"{{}} {kept} AS (LEFT({{}}, {INDEXED}))", Sql(name), self._dialect.text(value))
        # STORED, since Aria indexes no virtual column.
        return sql(f"{{}} STORED, KEY i{number} ({name})", made)

    def find(self, query: Query) -> Sql:
        """Rows of key and document, or of key and parts."""
        wanted = [DOC] if query.fields is None else [self._records.at(_of_names(path)) for path in query.fields]
        return sql("SELECT {} FROM {}{}", joined(", ", [Sql("k"), *wanted]), self._matching(query), self._page(query))

    def records(self, query: Query, rows: Sequence[Sequence[Any]]) -> list[tuple[Key, dict[str, Json]]]:
        """The answer to `find`: keys with records, or with their parts where they were."""
        if query.fields is None:
            return [(self._key(row[0]), json.loads(row[1])) for row in rows]
        return [(self._key(row[0]), _together(query.fields, row[1:])) for row in rows]

    def count(self, where: Where) -> Sql:
        """One row, the number."""
        return sql("SELECT COUNT(*) FROM {}", self._matching(where))

    def update(self, where: Where, path: Path, value: Json) -> Sql:
        """The server refuses it where one of the records has no parent of the path."""
        return sql("UPDATE {} SET doc = {} WHERE {}", self._table, replaced(path, value), self._records.sql(where.filter))

    def delete(self, where: Where) -> Sql:
        """All records that match."""
        return sql("DELETE FROM {}", self._matching(where))

    def aggregate(self, request: Aggregation) -> Sql:
        """Rows of JSON, in the order of the names, and one value more."""
        groups, filters = self._groups(self._table, request)
        return sql("SELECT * FROM {}{}", groups, _sorted(filters.order(request.sort), request.limit))

    def groups(self, request: Aggregation, rows: Sequence[Sequence[Any]]) -> list[dict[str, Json]]:
        """The answer to `aggregate`."""
        names = [*request.by, *request.compute]
        return [{name: json.loads(value) for name, value in zip(names, row, strict=False)} for row in rows]

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
            limit = facet.limit or _NOBODY_SAYS
            place = _place(filters.order(_MOST_FIRST))
            arms.append(sql("(SELECT {}, {}, NULL, c0, c1 FROM {} ORDER BY place LIMIT {})", number, place, groups, limit))
        matching = self._matching(request)
        return sql("WITH found AS (SELECT k, doc FROM {}) {} ORDER BY part, place", matching, joined(" UNION ALL ", arms))

    def page(self, request: Browse, rows: Sequence[Sequence[Any]]) -> Found:
        """The answer to `browse`."""
        facets: list[list[tuple[Json, int]]] = [[] for _ in request.facets]
        keys: list[Key] = []
        for part, _, key, value, number in rows[1:]:
            if part == 1:
                keys.append(self._key(key))
            else:
                facets[part - 2].append((json.loads(value), int(number)))
        return Found(int(rows[0][4]), keys, dict(zip(request.facets, facets, strict=True)))

    def _matching(self, where: Where) -> Sql:
        return sql("{} WHERE {}", self._table, self._records.sql(where.filter))

    def _page(self, query: Query) -> Sql:
        order = _sorted(self._records.order(query.sort, Sql("k")), query.limit or (_NOBODY_SAYS if query.skip else None))
        return sql("{} OFFSET {}", order, query.skip) if query.skip else order

    def _key(self, key: Any) -> Key:
        found: Key = key.decode() if self._text else key
        return found

    def _groups(self, source: Sql, request: Aggregation) -> tuple[Sql, _Filters]:
        """The groups that are meant, as the tables and conditions of a SELECT: a column `c0`, `c1` ... of JSON for each name."""
        buckets = list(request.by.values())
        records = self._bucketed(source, request, buckets)
        same = joined(", ", (self._dialect.same(Sql(f"g{number}")) for number in range(len(buckets))))
        measures = list(request.compute.values())
        shares = [(number, measure.share) for number, measure in enumerate(measures) if measure.share is not None]
        if shares:
            records = self._with_percentiles(records, shares, sql("PARTITION BY {}", same) if buckets else Sql(""))
        values = [Sql(f"g{number}") for number in range(len(buckets))]
        values += [self._measured(measure, number) for number, measure in enumerate(measures)]
        columns = [sql(f"{{}} AS c{number}", value) for number, value in enumerate(values)]
        # The count makes one row of all records where there is nothing to group by.
        groups = sql("SELECT {} FROM ({}) AS r", joined(", ", [*columns, Sql("COUNT(*) AS size")]), records)
        if buckets:
            groups = sql("{} GROUP BY {}", groups, same)
        names = {name: Sql(f"c{number}") for number, name in enumerate([*request.by, *request.compute])}
        filters = _Filters(self._dialect, lambda path: _of_group(names, path), {})
        return sql("({}) AS g WHERE {}", groups, filters.sql(request.having)), filters

    def _with_percentiles(self, records: Sql, shares: Sequence[tuple[int, float]], groups: Sql) -> Sql:
        if self._dialect.percentile is None:
            raise Unsupported("MySQL has no function for percentiles")
        numbers = {number: self._dialect.number(Sql(f"m{number}")) for number, _ in shares}
        found = [sql(f"{self._dialect.percentile} AS p{number}", share, numbers[number], groups) for number, share in shares]
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
                number_there = self._dialect.number(value)
                conditions.append(sql("{} IS NOT NULL", number_there))
                value = self._dialect.from_number(sql("FLOOR({} / {}) * {}", number_there, bucket.width, bucket.width))
            elif bucket.unit is not None:
                moment = sql("STR_TO_DATE({}, {})", self._dialect.text(value), "%Y-%m-%dT%H:%i:%sZ")
                conditions.append(sql("{} IS NOT NULL", moment))
                value = self._dialect.from_text(sql("DATE_FORMAT({}, {})", moment, _FIRST_SECOND[bucket.unit]))
            else:
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


def _kind(layout: Layout, path: Path) -> str:
    """Whether the model has a number or a text at a path."""
    shape: Any = layout.model.record.shape if isinstance(layout.model.record, Document) else None
    for step in path:
        shape = shape.object[step]
    return "number" if isinstance(shape, (Integer, Real)) else "text"


def _fits(value: Any, kind: str) -> bool:
    """Whether a comparison with an index's column is one with the value."""
    if kind == "number":
        return type(value) in (int, float) and abs(value) < EXACT
    return isinstance(value, str) and len(value) < INDEXED


def _begins(text: str) -> str:
    """The pattern of texts that begin with a text, for LIKE ... ESCAPE '|'."""
    return text.replace("|", "||").replace("%", "|%").replace("_", "|_") + "%"


def _of_names(path: Path) -> Path:
    if not path or not all(isinstance(step, str) for step in path):
        raise Unsupported("a part of a record is asked for by the names that lead to it")
    return path


def _of_group(names: Mapping[str, Sql], path: Path) -> Sql:
    """The value of a group under a name, or inside it."""
    name = str(path[0]) if path else ""
    if name not in names:
        raise Refused(f"a group has no {name!r}; it has {', '.join(names)}")
    return extract(names[name], path[1:])


def _sorted(keys: Sequence[Sql], limit: int | None) -> Sql:
    order = sql(" ORDER BY {}", joined(", ", keys)) if keys else Sql("")
    return order if limit is None else sql("{} LIMIT {}", order, limit)


def _place(keys: Sequence[Sql]) -> Sql:
    return sql("ROW_NUMBER() OVER ({}) AS place", sql("ORDER BY {}", joined(", ", keys)) if keys else Sql(""))


def _together(paths: Sequence[Path], values: Sequence[str | None]) -> dict[str, Json]:
    """The parts of a record in one, each where it was; NULL is nothing."""
    whole: dict[str, Any] = {}
    for path, value in zip(paths, values, strict=True):
        if value is not None:
            *outer, last = map(str, path)
            parent = whole
            for step in outer:
                parent = parent.setdefault(step, {})
            parent[last] = json.loads(value)
    return whole
