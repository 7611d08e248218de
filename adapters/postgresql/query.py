"""Requests in PostgreSQL's SQL: one statement each, with arguments for everything that is not ours, names and paths included.

A statement is planned with its arguments known, so `doc -> $1` is to the planner what it is in an index, `doc -> 'price'`.
SQL has three values of truth and the query language has two. A condition may be NULL here, which keeps a record out as FALSE does;
only `not` has to tell, and says IS NOT TRUE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from storeproof.adapters.postgresql import geo as geo
from storeproof.adapters.postgresql import text as text_search
from storeproof.adapters.postgresql.changes import with_values
from storeproof.adapters.postgresql.jsonb import Arguments, Place, is_number, place, read_exact, to_json
from storeproof.adapters.sql.answers import KeyOf, fields_of, of_rows
from storeproof.contract import FacetedPage, Json, Layout, Path, Unsupported
from storeproof.spec.place import PLACES
from storeproof.spec.query import (
    SEARCHES,
    Aggregation,
    And,
    Browse,
    Bucket,
    Comparing,
    Condition,
    Filter,
    Measure,
    Not,
    Or,
    Query,
    SortKey,
    Where,
)

TYPES = {"null": "null", "boolean": "boolean", "number": "number", "text": "string", "list": "array", "object": "object"}
"""What jsonb_typeof calls the types."""

_RANGES = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_DATE = r"""'strict $.datetime("YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"")'"""
_SECOND = """'YYYY-MM-DD"T"HH24:MI:SS"Z"'"""


class Statement(NamedTuple):
    text: str
    arguments: dict[str, Any]
    fuzzy: bool = False
    """Whether it needs the index of letters."""


class Requests:
    """The statements of one collection of documents, and what their rows say."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def find(self, query: Query) -> Statement:
        sql = Sql(self._layout)
        where, end = sql.where(query), sql.end(query)
        return sql.statement(f"SELECT {', '.join(['k', *sql.columns(query)])} FROM {sql.table}{where}{end}")

    def joined(self, query: Query, path: Path, fields: Sequence[Path]) -> Statement:
        sql = Sql(self._layout)
        named = f"convert_to({sql.at('doc', path).text}, 'UTF8')"
        columns = ["k", *sql.columns(query), "other_k", *sql.parts("other", fields)]
        joined = f"{sql.table} LEFT JOIN (SELECT k AS other_k, doc AS other FROM {sql.table}) AS others ON other_k = {named}"
        return sql.statement(f"SELECT {', '.join(columns)} FROM {joined}{sql.where(query)}{sql.end(query)}")

    def count(self, where: Where) -> Statement:
        sql = Sql(self._layout)
        return sql.statement(f"SELECT count(*) FROM {sql.table}{sql.where(where)}")

    def update(self, where: Where, path: Path, value: Json) -> Statement:
        sql = Sql(self._layout)
        return sql.statement(f"UPDATE {sql.table} SET doc = {with_values({path: value}, sql)}{sql.where(where)}")

    def delete(self, where: Where) -> Statement:
        sql = Sql(self._layout)
        return sql.statement(f"DELETE FROM {sql.table}{sql.where(where)}")

    def aggregate(self, aggregation: Aggregation) -> Statement:
        """A row a group: its names and values as one JSON object. `having` and `sort` look into it as into a document."""
        sql = Sql(self._layout)
        buckets = [f" CROSS JOIN LATERAL ({sql.bucket(bucket)}) AS b{number} (v)" for number, bucket in enumerate(aggregation.by.values())]
        grouped = ", ".join(f"b{number}.v" for number in range(len(buckets))) or "()"
        named = [f"{sql.add(name)}::text, b{number}.v" for number, name in enumerate(aggregation.by)]
        named += [f"{sql.add(name)}::text, {sql.measure(measure)}" for name, measure in aggregation.compute.items()]
        taken = f"FROM {sql.table}{''.join(buckets)}{sql.where(aggregation)} GROUP BY {grouped}"
        groups = f"SELECT jsonb_build_object({', '.join(named)}) AS doc {taken}"
        chosen = f"{sql.where(Where(filter=aggregation.having), 'groups.doc')}{sql.order(aggregation.sort, indexed=False)}"
        return sql.statement(f"SELECT doc::text FROM ({groups}) AS groups{chosen} LIMIT {sql.add(aggregation.limit)}::bigint")

    def groups(self, aggregation: Aggregation, rows: Sequence[Sequence[Any]]) -> list[dict[str, Json]]:
        exact = of_rows(aggregation, self._layout.model.decimals)
        return [read_exact(row[0], exact) for row in rows]

    def browse(self, request: Browse) -> Statement:
        """One row: the total, an array of keys, and for each facet an array of JSON texts, `[value, count]`."""
        sql = Sql(self._layout)
        matching = f"WITH matching AS (SELECT k, doc FROM {sql.table}{sql.where(request)})"
        page = f"ARRAY(SELECT k FROM matching{sql.order(request.sort)} LIMIT {sql.add(request.limit)}::bigint)"
        facets = []
        for facet in request.facets.values():
            counted = f"FROM matching CROSS JOIN LATERAL ({sql.bucket(facet)}) AS b (v) WHERE v IS NOT NULL GROUP BY v"
            order = f"ORDER BY count(*) DESC, {sql.at('v', ()).text}, v LIMIT {sql.add(facet.limit)}::bigint"
            facets.append(f"ARRAY(SELECT jsonb_build_array(v, count(*))::text {counted} {order})")
        return sql.statement(f"{matching} SELECT {', '.join(['(SELECT count(*) FROM matching)', page, *facets])}")

    def page(self, request: Browse, rows: Sequence[Sequence[Any]], key_of: KeyOf) -> FacetedPage:
        ((total, keys, *facets),) = rows
        counted = {}
        for (name, facet), found in zip(request.facets.items(), facets, strict=True):
            exact = [(0,)] if facet.path in self._layout.model.decimals else []
            counted[name] = [(value, count) for value, count in (read_exact(each, exact) for each in found)]
        return FacetedPage(total, [key_of(key) for key in keys], counted)


def _way(key: SortKey) -> str:
    return f"{key.order.upper()}{f' NULLS {key.nulls.upper()}' if key.nulls else ''}"


class Sql(Arguments):
    """One statement while it is put together."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.table = f'"{layout.name}"'
        self._layout = layout
        self._depth = 0
        self._fuzzy = False

    def statement(self, text: str) -> Statement:
        return Statement(text, self.values, self._fuzzy)

    def columns(self, query: Query) -> list[str]:
        columns = ["doc::text"] if query.fields is None else self.parts("doc", query.fields)
        if query.highlight is None:
            return columns
        return [*columns, text_search.headline(self._layout, query.filter, query.highlight, self.add)]

    def parts(self, root: str, fields: Sequence[Path]) -> list[str]:
        return [f"({self.at(root, path).json})::text" for path in fields_of(fields)]

    def end(self, query: Query) -> str:
        ranks = [f"{text_search.rank(self._layout, query.filter, self.add)} DESC"] if query.ranked else []
        return f"{self.order(query.sort, first=ranks)} LIMIT {self.add(query.limit)}::bigint OFFSET {self.add(query.skip)}::bigint"

    def at(self, root: str, path: Path) -> Place:
        return place(root, path, self.add)

    def where(self, where: Where, root: str = "doc") -> str:
        return "" if where.filter is None else f" WHERE {self.filter(where.filter, root)}"

    def filter(self, condition: Filter, root: str) -> str:
        """What holds for the document at `root`."""
        match condition:
            case And(parts=parts):
                return " AND ".join(f"({self.filter(part, root)})" for part in parts) or "TRUE"
            case Or(parts=parts):
                return " OR ".join(f"({self.filter(part, root)})" for part in parts) or "FALSE"
            case Not(part=part):
                return f"({self.filter(part, root)}) IS NOT TRUE"
        if condition.operator in SEARCHES:
            if root != "doc":
                raise Unsupported("the text index has only texts of whole records")
            self._fuzzy |= condition.operator == "fuzzy"
            return text_search.searched(self._layout, condition, self.add)
        if condition.operator in PLACES:
            return geo.located(root, condition.path, condition.operator, condition.value, self.add)
        return self._condition(self.at(root, condition.path), condition)

    def _condition(self, there: Place, condition: Condition) -> str:
        value = condition.value
        match condition.operator:
            case "in":
                return self._one_of(there, value)
            case "exists":
                return f"{there.json} IS {'NOT ' if value else ''}NULL"
            case "type":
                return f"jsonb_typeof({there.json}) = {self.add(TYPES[value])}::text"
            case "prefix" | "contains" | "regex" | "ieq" | "icontains":
                return self._on_text(there.text, condition.operator, f"{self.add(value)}::text")
            case "any":
                return self._any(there, value)
            case "all":
                return " AND ".join([f"{there.json} @> '[]'", *(self._has_item(there, item) for item in value)])
            case "size":
                # AND promises no order of evaluation, and the length of what is no list is an error.
                length = f"CASE WHEN jsonb_typeof({there.json}) = 'array' THEN jsonb_array_length({there.json}) END"
                return f"{length} = {self.add(value)}::numeric"
            case "element":
                return self._some(there, lambda item: f"jsonb_typeof({item}) = 'object' AND ({self.filter(value, item)})")
        return self._compare(there, condition.operator, value)

    def _on_text(self, found: str, operator: str, wanted: str) -> str:
        if operator.startswith("i"):
            found, wanted = map(text_search.lowered, (found, wanted))
        operation = {"prefix": "^@", "regex": "~", "ieq": "="}.get(operator)
        return f"{found} {operation} {wanted}" if operation else f"strpos({found}, {wanted}) > 0"

    def _compare(self, there: Place, operator: str, value: Any) -> str:
        found, wanted = self._sides(there, value)
        if operator == "eq":
            return f"{found} = {wanted}"
        if operator == "ne":
            return f"{found} IS DISTINCT FROM {wanted}"
        # Nothing is smaller than true, null, a list or an object, though jsonb has an order for them.
        return f"{found} {_RANGES[operator]} {wanted}" if type(value) in (int, float, str, Decimal) else "FALSE"

    def _sides(self, there: Place, value: Any) -> tuple[str, str]:
        """What is compared: texts by code point, numbers as numbers, so that an index serves both, and the rest as jsonb."""
        if isinstance(value, str):
            return there.text, f"{self.add(value)}::text"
        if type(value) in (int, float, Decimal):
            return there.number, f"{self.add(to_json(value))}::numeric"
        return there.json, f"{self.add(to_json(value))}::jsonb"

    def _one_of(self, there: Place, values: Sequence[Any]) -> str:
        texts = [value for value in values if isinstance(value, str)]
        numbers = [to_json(value) for value in values if type(value) in (int, float, Decimal)]
        others = [to_json(value) for value in values if type(value) not in (int, float, str, Decimal)]
        sides = ((there.text, texts, "text"), (there.number, numbers, "numeric"), (there.json, others, "jsonb"))
        return " OR ".join(f"{found} = ANY ({self.add(wanted)}::text[]::{kind}[])" for found, wanted, kind in sides if wanted) or "FALSE"

    def _any(self, there: Place, comparing: Comparing) -> str:
        if comparing.operator == "eq":
            return self._has_item(there, comparing.value)
        return self._some(there, lambda item: self._compare(self.at(item, ()), comparing.operator, comparing.value))

    def _has_item(self, there: Place, value: Any) -> str:
        """By containment, which of lists and objects asks for less than equality: they are compared one by one."""
        wanted = f"{self.add(to_json(value if isinstance(value, (list, dict)) else [value]))}::jsonb"
        if isinstance(value, (list, dict)):
            return self._some(there, lambda item: f"{item} = {wanted}")
        return f"{there.json} @> {wanted}"

    def _some(self, there: Place, condition: Callable[[str], str]) -> str:
        """There is a list, and the condition holds for one of its items."""
        self._depth += 1
        name = f"item{self._depth}"
        return f"EXISTS (SELECT FROM {there.items} AS {name} (v) WHERE {condition(f'{name}.v')})"

    def order(self, keys: Sequence[SortKey], indexed: bool = True, first: Sequence[str] = ()) -> str:
        """Texts by code point, and all else as jsonb sorts it; where the model has a number, as its index has it."""
        terms = [*first]
        for key in keys:
            if key.origin is not None:
                terms.append(f"{geo.distance('doc', key.path, key.origin, self.add)} {_way(key)}")
                continue
            there = self.at("doc", key.path)
            if key.collation is not None:
                terms.append(f"{text_search.in_language(there.text, key.collation, key.case == 'ignored')} {_way(key)}")
                continue
            typed = [there.number] if indexed and is_number(self._layout, key.path) else []
            terms += [f"{term} {_way(key)}" for term in ([*typed, there.text, there.value] if key.path else ["k"])]
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def bucket(self, bucket: Bucket) -> str:
        """A query for the values, in jsonb, under which a document is counted: null and missing are NULL."""
        there = self.at("doc", bucket.path)
        if bucket.each:
            return f"SELECT DISTINCT {self.at('item', ()).value} FROM {there.items} AS items (item)"
        if bucket.width is not None:
            width = f"{self.add(to_json(bucket.width))}::numeric"
            return f"SELECT to_jsonb(floor({there.number} / {width}) * {width}) WHERE {there.number} IS NOT NULL"
        if bucket.unit is not None:
            # A jsonpath reads the one form of a date, which is UTC, and finds nothing in any other text, where a cast would fail.
            date = f"(jsonb_path_query_first({there.json}, {_DATE}, '{{}}', TRUE) #>> '{{}}')::timestamp"
            return f"SELECT to_jsonb(to_char(date_trunc({self.add(bucket.unit)}::text, {date}), {_SECOND})) WHERE {date} IS NOT NULL"
        return f"SELECT {there.value}"

    def measure(self, measure: Measure) -> str:
        """An aggregate over the documents of a group."""
        there = self.at("doc", measure.path or ())
        match measure.function:
            case "count":
                return "count(*)"
            case "distinct":
                return f"count(DISTINCT {there.value})"
            case "percentile":
                share = f"({self.add(measure.share)}::float8)"
                if measure.kind == "smallest":
                    return f"percentile_disc{share} WITHIN GROUP (ORDER BY {there.number})"
                return f"percentile_cont{share} WITHIN GROUP (ORDER BY {there.number}::float8)"
            case "min" | "max":
                least = {"min": "bool_and", "max": "bool_or"}[measure.function]
                typed = [f"{measure.function}({there.number})", f"{measure.function}({there.text})", f"{least}({there.boolean})"]
                return f"COALESCE({', '.join(f'to_jsonb({one})' for one in typed)})"
        return f"{measure.function}({there.number})"
