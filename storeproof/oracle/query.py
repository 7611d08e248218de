"""The oracle for requests: spec/QUERY.md, executed on plain Python values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from functools import cmp_to_key
from typing import Any

from storeproof.contract.values import MISSING, FacetedPage, Json, Key, Path
from storeproof.oracle.place import LOCATING, distance, point
from storeproof.oracle.text import SEARCHING, highlighted, relevance, weight
from storeproof.spec.query import SEARCHES, Aggregation, And, Browse, Bucket, Condition, Filter, Measure, Not, Or, Query, SortKey, Where

Documents = Mapping[Key, Mapping[str, Any]]

_DIGITS = 100
"""Precision of a sum of decimals, in digits: more than any case needs, so that no sum is rounded."""


def at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(value, list) and isinstance(step, int):
            value = value[step] if 0 <= step < len(value) else MISSING
        else:
            value = value.get(step, MISSING) if isinstance(value, Mapping) else MISSING
    return value


def holds(condition: Filter | None, document: Any) -> bool:
    """Whether a document matches a filter."""
    match condition:
        case None:
            return True
        case And(parts=parts):
            return all(holds(part, document) for part in parts)
        case Or(parts=parts):
            return any(holds(part, document) for part in parts)
        case Not(part=part):
            return not holds(part, document)
    if condition.operator in SEARCHES and not condition.path:
        texts = ["\n".join(_texts(document))] if condition.operator == "words" else _texts(document)
        return any(_OPERATORS[condition.operator](text, condition.value) for text in texts)
    return _OPERATORS[condition.operator](at(document, condition.path), condition.value)


def type_of(value: Any) -> str | None:
    """The name of a value's type; None for `MISSING`."""
    for name, kinds in _TYPES.items():
        if type(value) in kinds:
            return name
    return None


def equal(one: Any, other: Any) -> bool:
    """Equality by value: 1 equals 1.0, the order of list items counts, the order of fields does not."""
    if type_of(one) != type_of(other) or one is MISSING:
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    return bool(one == other)


def find(documents: Documents, query: Query) -> list[tuple[Key, dict[str, Json]]]:
    """Keys and records; without `sort`, in key order."""
    matching = _sort(_matching(documents, query), query.sort)
    if query.ranked:
        matching.sort(key=lambda entry: -_relevance(entry[1], query.filter))
    end = None if query.limit is None else query.skip + query.limit
    return [(key, _answer(document, query)) for key, document in matching[query.skip : end]]


def find_joined(
    documents: Documents, query: Query, path: Path, fields: Sequence[Path]
) -> list[tuple[Key, dict[str, Json], dict[str, Json] | None]]:
    """As `find`, joined with `fields` of the record whose key is at `path`; None if there is no such record."""
    joined = []
    for key, answer in find(documents, query):
        named = at(documents[key], path)
        other = documents.get(named) if isinstance(named, str) else None
        joined.append((key, answer, None if other is None else _project(other, fields)))
    return joined


def count_where(documents: Documents, where: Where) -> int:
    """The number of records that match."""
    return len(_matching(documents, where))


def aggregate(documents: Documents, aggregation: Aggregation) -> list[dict[str, Json]]:
    """One dict per group. Where the store may choose: `sum` of no values is null, and `percentile` is `percentile_disc`."""
    groups: list[tuple[dict[str, Any], list[Any]]] = [] if aggregation.by else [({}, [])]
    for _, document in _matching(documents, aggregation):
        for names in _combinations(document, aggregation.by):
            group = next((members for found, members in groups if equal(found, names)), None)
            if group is None:
                groups.append((names, group := []))
            group.append(document)
    rows = [{**names, **{name: _measure(members, measure) for name, measure in aggregation.compute.items()}} for names, members in groups]
    rows = [row for row in rows if holds(aggregation.having, row)]
    ordered = [row for _, row in _sort([(number, row) for number, row in enumerate(rows)], aggregation.sort)]
    return ordered[: aggregation.limit]


def browse(documents: Documents, request: Browse) -> FacetedPage:
    """The number of matching records, one page of their keys, and the facets."""
    matching = _matching(documents, request)
    facets = {}
    for name, facet in request.facets.items():
        counts: list[tuple[Any, int]] = []
        for value in (value for _, document in matching for value in _values(document, facet) if value is not None):
            known = next((place for place, (other, _) in enumerate(counts) if equal(other, value)), None)
            if known is None:
                counts.append((value, 1))
            else:
                counts[known] = (value, counts[known][1] + 1)
        counts.sort(key=lambda entry: (-entry[1], entry[0]))
        facets[name] = counts[: facet.limit]
    page = _sort(matching, request.sort)[: request.limit]
    return FacetedPage(len(matching), [key for key, _ in page], facets)


def _matching(documents: Documents, where: Where) -> list[tuple[Key, Any]]:
    return [(key, documents[key]) for key in sorted(documents) if holds(where.filter, documents[key])]


def _sort(found: list[tuple[Any, Any]], keys: Sequence[SortKey]) -> list[tuple[Any, Any]]:
    def compare(one: tuple[Any, Any], other: tuple[Any, Any]) -> int:
        for key in keys:
            left, right = (side[0] if not key.path else sorted_by(at(side[1], key.path), key) for side in (one, other))
            nothing = left in (None, MISSING), right in (None, MISSING)
            if any(nothing):
                if not all(nothing):
                    # Unless the request says otherwise, null and missing are less than any value.
                    first = key.nulls == "first" if key.nulls else key.order == "asc"
                    return -1 if nothing[0] == first else 1
            elif left != right:
                return -1 if (left < right) == (key.order == "asc") else 1
        return 0

    return sorted(found, key=cmp_to_key(compare))


def sorted_by(value: Any, key: SortKey) -> Any:
    """The value to compare when sorting: a collation key, a distance in metres, or the value itself."""
    if key.collation is not None:
        return weight(value, key.collation, key.case == "ignored") if isinstance(value, str) else value
    if key.origin is None:
        return value
    there = point(value)
    return None if there is None else distance(there, key.origin)


def _searches(condition: Filter | None) -> list[tuple[Path, str]]:
    """The text searches in a filter: each path, and the words that are searched for."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return [found for part in parts for found in _searches(part)]
        case Condition(path=path, operator=operator, value=value) if operator in SEARCHES:
            return [(path, value)]
    return []


def _relevance(document: Any, condition: Filter | None) -> int:
    return sum(
        relevance(text, wanted) for path, wanted in _searches(condition) for text in ([at(document, path)] if path else _texts(document))
    )


def _texts(value: Any) -> list[str]:
    """All texts in a document, also outside the model's `text` paths: no dataset has a word there that a case searches for."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [text for item in inner for text in _texts(item)]


def _answer(document: Mapping[str, Any], query: Query) -> dict[str, Json]:
    answer = _project(document, query.fields)
    if query.highlight is not None:
        wanted = " ".join(words for path, words in _searches(query.filter) if path in ((), query.highlight))
        answer["highlight"] = highlighted(at(document, query.highlight), wanted)
    return answer


def _project(document: Mapping[str, Any], fields: Sequence[Path] | None) -> dict[str, Json]:
    if fields is None:
        return dict(document)
    part: dict[str, Any] = {}
    for path in fields:
        value = at(document, path)
        if value is not MISSING:
            inner = part
            for step in path[:-1]:
                inner = inner.setdefault(step, {})  # type: ignore[arg-type]
            inner[path[-1]] = value  # type: ignore[index]
    return part


def _combinations(document: Any, by: Mapping[str, Bucket]) -> list[dict[str, Any]]:
    """The groups of a document: several with `each`; none if `each`, `width` or `unit` finds no list, number or date."""
    found: list[dict[str, Any]] = [{}]
    for name, bucket in by.items():
        found = [{**names, name: value} for names in found for value in _values(document, bucket)]
    return found


def _values(document: Any, bucket: Bucket) -> list[Any]:
    value = at(document, bucket.path)
    if bucket.each:
        distinct: list[Any] = []
        for item in value if isinstance(value, list) else ():
            if not any(equal(item, other) for other in distinct):
                distinct.append(item)
        return distinct
    if bucket.width is not None:
        return [math.floor(value / bucket.width) * bucket.width] if type_of(value) == "number" else []
    if bucket.unit is not None:
        return [_first_second(value, bucket.unit)] if type_of(value) == "text" else []
    return [None if value is MISSING else value]


def _first_second(date: str, unit: str) -> str:
    moment = datetime.fromisoformat(date).astimezone(UTC)
    units = ("year", "month", "day", "hour")
    first = {smaller: 1 if smaller in ("month", "day") else 0 for smaller in units[units.index(unit) + 1 :]}
    return moment.replace(minute=0, second=0, microsecond=0, **first).strftime("%Y-%m-%dT%H:%M:%SZ")  # type: ignore[arg-type]


def _measure(members: Iterable[Any], measure: Measure) -> Any:
    if measure.path is None:
        return len(list(members))
    values = [value for member in members if (value := at(member, measure.path)) not in (None, MISSING)]
    if measure.function == "distinct":
        return sum(not any(equal(value, other) for other in values[:place]) for place, value in enumerate(values))
    if measure.function in ("sum", "avg", "percentile"):
        values = [value for value in values if type_of(value) == "number"]
    if not values:
        return None
    if measure.function == "percentile":
        return _percentile(sorted(values), measure)
    return _FUNCTIONS[measure.function](values)


def _sum(values: list[Any]) -> Any:
    with localcontext() as context:
        context.prec = _DIGITS
        return sum(values)


def _percentile(values: list[Any], measure: Measure) -> Any:
    assert measure.share is not None
    if measure.kind != "interpolated":
        return values[math.ceil(measure.share * len(values)) - 1]
    place = measure.share * (len(values) - 1)
    below = values[math.floor(place)]
    return below + (values[math.ceil(place)] - below) * (place - math.floor(place))


def _compare_in_order(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda found, wanted: type_of(found) == type_of(wanted) and type_of(found) in ("number", "text") and compare(found, wanted)


def _on_text(test: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    return lambda found, wanted: isinstance(found, str) and test(found, wanted)


def _on_list(test: Callable[[list[Any], Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda found, wanted: isinstance(found, list) and test(found, wanted)


_TYPES: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "number": (int, float, Decimal),
    "text": (str,),
    "list": (list,),
    "object": (dict,),
}

_FUNCTIONS: Mapping[str, Callable[[list[Any]], Any]] = {
    "sum": _sum,
    "min": min,
    "max": max,
    "avg": lambda values: sum(values) / len(values),
}

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": equal,
    "ne": lambda found, wanted: not equal(found, wanted),
    "lt": _compare_in_order(lambda found, wanted: found < wanted),
    "lte": _compare_in_order(lambda found, wanted: found <= wanted),
    "gt": _compare_in_order(lambda found, wanted: found > wanted),
    "gte": _compare_in_order(lambda found, wanted: found >= wanted),
    "in": lambda found, wanted: any(equal(found, each) for each in wanted),
    "exists": lambda found, wanted: (found is not MISSING) == wanted,
    "type": lambda found, wanted: type_of(found) == wanted,
    "prefix": _on_text(str.startswith),
    "contains": _on_text(lambda found, wanted: wanted in found),
    "regex": _on_text(lambda found, wanted: re.search(wanted, found) is not None),
    "ieq": _on_text(lambda found, wanted: found.casefold() == wanted.casefold()),
    "icontains": _on_text(lambda found, wanted: wanted.casefold() in found.casefold()),
    **{name: _on_text(test) for name, test in SEARCHING.items()},
    **LOCATING,
    "any": _on_list(lambda found, wanted: any(_OPERATORS[wanted.operator](item, wanted.value) for item in found)),
    "all": _on_list(lambda found, wanted: all(any(equal(item, each) for item in found) for each in wanted)),
    "size": _on_list(lambda found, wanted: len(found) == wanted),
    "element": _on_list(lambda found, wanted: any(isinstance(item, dict) and holds(wanted, item) for item in found)),
}
