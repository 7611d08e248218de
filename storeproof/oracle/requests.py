"""Hypothesis strategies: documents, and requests on them that have exactly one correct answer.

So whatever `spec/QUERY.md` leaves to the store is not drawn: sorting by null or missing values, `eq` between a list and one of its items,
percentiles without a kind.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from storeproof.spec.query import Aggregation, Browse, Query, Where

Asked = tuple[str, Where]
"""An operation and its request."""

_TEXTS = (
    "",
    "a",
    "A",
    "ab",
    "aB",
    "b",
    "a%b",
    "a_b",
    "%",
    "_",
    "10",
    "true",
    "null",
    "é",
    "z",
    "Z",
    "\uff5e",
    "𝄞",
    "'",
    '"',
    "\\",
    "a.b",
    "$a",
)
"""A short list, so that equal values are drawn often. U+FF5E and U+1D11E sort differently by code point and by UTF-16 code unit."""
_NUMBERS = (0, 1, -1, 2, 10, 12, -7, 42, 100, 0.25, 0.5, 4.25, -0.75, 42.0, 1e3, 2**31, 2**53)
"""Multiples of 1/4: sums without the last one, 2**53, are exact in a double."""
_FINE = (0.1, 0.3, 0.30000000000000004, 1 / 3, 123456789.12345679, 2**32 + 12, 2**53 - 1)
"""Of full precision, next to each other or to one of the others modulo 2**32. They are compared, and never summed."""
_PAST_ANY_END = (127, 2**16, 2**31, 2**33 - 7)
"""Records that are skipped or returned. Whole multiples of 2**32 and a little more are tried by a fixed case, as in `strategies.py`."""
_31_BITS = 2**31
_DATES = ("2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2026-01-31T12:30:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:59:59Z")
_PATTERNS = ("^a", "b$", "a.b", "^$", "[A-Z]", "^(a|b)", "a+", "[^a]b", "B?")
_UNLIKE: st.SearchStrategy[Any] = st.sampled_from((None, True, False, 0, 1, "", "1", "true", [], {}))

_texts = st.sampled_from(_TEXTS[:6]) | st.sampled_from(_TEXTS)  # half are of the first six: bounds of ranges, and differences in case only
_numbers = st.sampled_from(_NUMBERS[:4]) | st.sampled_from(_NUMBERS) | st.sampled_from(_FINE)
_summed = st.sampled_from(_NUMBERS[:4]) | st.sampled_from(_NUMBERS[:-1])
_values: dict[str, st.SearchStrategy[Any]] = {
    "name": _texts,
    "color": _texts,
    "price": _summed,
    "stock": _summed.filter(lambda number: isinstance(number, int)),
    "active": st.booleans(),
    "added": st.sampled_from(_DATES),
    "tags": st.lists(st.sampled_from(("a", "b", "é", 1, 2)), max_size=4),
    "maker": st.none() | st.fixed_dictionaries({}, optional={"name": _texts, "country": st.none() | _texts, "size": _numbers}),
    "reviews": st.lists(st.fixed_dictionaries({}, optional={"by": _texts, "stars": st.integers(1, 5)}), max_size=3),
}
documents: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={name: st.one_of(value, value, value, st.none()) for name, value in _values.items()}
)
"""Products with missing and null fields."""
mixed: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({}, optional={"odd": _UNLIKE | _texts | _numbers}).flatmap(
    lambda odd: documents.map(lambda document: {**document, **odd})
)
"""As `documents`, with a field `odd` that may have a value of any type."""

_TEXT_PATHS = ("name", "color", "maker.name", "maker.country", "odd")
_NUMBER_PATHS = ("price", "stock", "maker.size", "odd")
_SCALAR_PATHS = ("name", "color", "price", "stock", "active", "maker.name", "maker.country", "maker.size", "nowhere", "nowhere.at.all")
_ALL_PATHS = (*_SCALAR_PATHS, "odd", "tags", "maker", "reviews")
_SORTABLE = {"name": "text", "color": "text", "maker.name": "text", "price": "number", "stock": "number", "added": "text"}
_COMPARISONS = ("lt", "lte", "gt", "gte")


def _condition(paths: st.SearchStrategy[Any], operators: tuple[str, ...], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(paths, st.sampled_from(operators), values).map(list)


_scalars = st.one_of(_texts, _numbers, st.booleans(), st.none())
_conditions = st.one_of(
    _condition(st.sampled_from(_SCALAR_PATHS), ("eq", "ne"), _scalars),
    _condition(st.sampled_from(_SCALAR_PATHS), ("in",), st.lists(_scalars, max_size=3)),
    _condition(st.sampled_from(_TEXT_PATHS), _COMPARISONS, _texts),
    _condition(st.sampled_from(_NUMBER_PATHS), _COMPARISONS, _numbers),
    _condition(st.just("added"), _COMPARISONS, st.sampled_from(_DATES)),
    _condition(st.sampled_from(_ALL_PATHS), ("exists",), st.booleans()),
    _condition(st.sampled_from(_ALL_PATHS), ("type",), st.sampled_from(("null", "boolean", "number", "text", "list", "object"))),
    _condition(st.sampled_from(_TEXT_PATHS), ("prefix", "contains"), _texts),
    _condition(st.sampled_from(_TEXT_PATHS), ("ieq", "icontains"), st.sampled_from([text for text in _TEXTS if text.isascii()])),
    _condition(st.sampled_from(_TEXT_PATHS), ("regex",), st.sampled_from(_PATTERNS)),
    _condition(st.just("tags"), ("any",), st.tuples(st.sampled_from(("eq", "ne")), st.sampled_from(("a", "é", 1, 3))).map(list)),
    _condition(st.just("tags"), ("any",), st.tuples(st.sampled_from(_COMPARISONS), st.sampled_from(("a", "b", 1, 2))).map(list)),
    _condition(st.just("tags"), ("all",), st.lists(st.sampled_from(("a", "b", 1)), min_size=1, max_size=2, unique=True)),
    _condition(st.sampled_from(("tags", "reviews", "name")), ("size",), st.integers(0, 3)),
    _condition(
        st.just("reviews"),
        ("element",),
        st.recursive(
            _condition(st.just("stars"), ("eq", *_COMPARISONS), st.integers(1, 5))
            | _condition(st.just("by"), ("eq", "ne", "prefix"), _texts),
            lambda inner: st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=2)}) | st.fixed_dictionaries({"not": inner}),
            max_leaves=3,
        ),
    ),
    _condition(st.sampled_from((["tags", 0], ["reviews", 0, "stars"])), ("eq",), st.sampled_from(("a", 1, 5))),
)
_filters = st.recursive(
    _conditions,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=5,
)


# Parts of requests are made once, here: Hypothesis looks through every new strategy before it draws from it, which takes longer.
_filtered: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({"filter": _filters})
_unfiltered: st.SearchStrategy[dict[str, Any]] = st.just({})
_where = st.integers(0, 5).flatmap(lambda drawn: _filtered if drawn else _unfiltered)
_directions = st.sampled_from(("asc", "desc"))
_sort_paths = st.lists(st.sampled_from(sorted(_SORTABLE)), max_size=2, unique=True)


@st.composite
def _sort_and_filter(draw: st.DrawFn) -> dict[str, Any]:
    """A filter that admits one type in each field of the sort, and the record's key as the last sort key, so that there are no ties."""
    keys = draw(_sort_paths)
    of_one_type = [[path, "type", _SORTABLE[path]] for path in keys]
    sort = [[path, draw(_directions)] for path in keys]
    return {"filter": {"and": [draw(_filters), *of_one_type]}, "sort": [*sort, [[], draw(_directions)]]}


_sorted_where = _sort_and_filter()
_any_where = _where | _sorted_where
_skips = st.one_of(*[st.integers(0, 2)] * 9, st.sampled_from(_PAST_ANY_END))
_limits = st.one_of(st.none(), *[st.integers(1, 4)] * 4, st.sampled_from(_PAST_ANY_END))
_projections = st.sampled_from((None, [], [], ["name"], ["maker.name", "price"], ["tags", "maker.country", "nowhere"]))


@st.composite
def _find(draw: st.DrawFn) -> Asked:
    written = {**draw(_any_where), "fields": draw(_projections)}
    if "sort" in written:
        written |= {"skip": draw(_skips), "limit": draw(_limits)}
    return "find", Query.model_validate(written)


_buckets: list[Any] = [
    *("color", "active", "maker.country", "stock", {"path": "price", "width": 10}, {"path": "stock", "width": 0.5}),
    *({"path": "added", "unit": unit} for unit in ("year", "month", "day", "hour")),
    {"path": "tags", "each": True},
]
_measures: list[list[Any]] = [
    *(["count"], ["sum", "price"], ["sum", "stock"], ["min", "price"], ["max", "name"], ["min", "added"]),
    *(["avg", "stock"], ["distinct", "color"], ["distinct", "price"]),
    *(["percentile", "price", share, "smallest"] for share in (0.25, 0.5, 0.9, 0.95)),
]
_groupings = st.lists(st.sampled_from(_buckets), max_size=2, unique_by=str)
_some_measures = [st.lists(st.sampled_from(_measures), min_size=least, max_size=3, unique_by=str) for least in (0, 1)]
"""By the least number of measures: what is not grouped has at least one."""


@st.composite
def _aggregate(draw: st.DrawFn) -> Asked:
    by = draw(_groupings)
    chosen = draw(_some_measures[not by])
    written = {
        **draw(_where),
        "by": {f"by{number}": bucket for number, bucket in enumerate(by)},
        "compute": {f"m{number}": measure for number, measure in enumerate(chosen)},
    }
    if chosen and chosen[0] == ["count"] and draw(st.booleans()):
        written["having"] = ["m0", "gte", draw(st.integers(1, 2))]
    return "aggregate", Aggregation.model_validate(written)


_facets: list[Any] = [{"path": "maker.country"}, {"path": "active"}, {"path": "price", "width": 10}, {"path": "added", "unit": "month"}]
_some_facets = st.lists(st.sampled_from(_facets), max_size=3, unique_by=str)


@st.composite
def _browse(draw: st.DrawFn) -> Asked:
    chosen = draw(_some_facets)
    written = {**draw(_sorted_where), "facets": {f"f{number}": facet for number, facet in enumerate(chosen)}}
    return "browse", Browse.model_validate({**written, "limit": draw(st.integers(0, 3))})


def may_refuse(request: Where) -> bool:
    """Whether a store may refuse the request with an error: it skips or returns as many records as need more than 31 bits."""
    return isinstance(request, Query) and max(request.skip, request.limit or 0) >= _31_BITS


def requests(operations: frozenset[str]) -> st.SearchStrategy[Asked]:
    """Requests; only for those of `operations` that read."""
    known: dict[str, st.SearchStrategy[Asked]] = {
        "find": _find(),
        "count_where": _where.map(lambda written: ("count_where", Where.model_validate(written))),
        "aggregate": _aggregate(),
        "browse": _browse(),
    }
    return st.one_of([known[name] for name in known if name in operations])
