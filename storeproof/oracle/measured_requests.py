"""Hypothesis strategies: records with positions or exact decimals, and requests on them.

Positions and circles are drawn from fixed lists in which no position lies within 2 % of a circle's radius, because stores compute distances
on different spheres and spheroids.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from storeproof.oracle.place import distance
from storeproof.oracle.requests import Asked
from storeproof.spec.query import Aggregation, Query, Where

_PLACES = (
    (2.35, 48.86),
    (13.4, 52.52),
    (179.5, -16.5),
    (-179.5, -17.25),
    (100.0, 80.5),
    (-62.34, 82.5),
    (-120.25, -70.0),
    (45.0, 89.25),
    (-75.0, 40.0),
    (151.2, -33.87),
    (36.82, -1.29),
)
_CENTRES = ((0, 0), (180, -16), (-179.75, 10), (0, 90), (30, -90), (10, 50), (-70, 35), (120, 0.5))
_RADII = (10_000, 150_000, 500_000, 1_000_000, 2_000_000, 4_500_000, 8_000_000, 12_000_000, 19_000_000)
_CIRCLES = [
    [*centre, radius]
    for centre in _CENTRES
    for radius in _RADII
    if all(abs(distance(place, centre) / radius - 1) > 0.02 for place in _PLACES)
]
_BOXES = [
    [west, south, east, north]
    for west, east in ((-180, 180), (-95, 20), (5, 60), (110, -95), (165, -165), (60, -30))
    for south, north in ((-90, 90), (-50, 30), (30, 50.5), (-20, 90), (75, 85))
]
_POLYGONS = (
    [[-6, 46], [17, 46], [17, 57], [-6, 57]],
    [[-6, 57], [17, 57], [17, 46], [-6, 46]],
    [[-95, 30], [-60, 30], [-60, 52]],
    [[140, -45], [160, -45], [155, -25], [140, -25]],
)
_AMOUNTS = ("0.1", "0.2", "-0.30", "2.50", "2.5", "10", "0", "0.000001", "9007199254740993.1", "9007199254740993.2", "1234567890123456789")

places: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"people": st.integers(0, 3)},
    optional={
        "location": st.none()
        | st.sampled_from(_PLACES).map(lambda place: {"type": "Point", "coordinates": list(place)})
        | st.sampled_from(_PLACES).map(lambda place: {"type": "Point", "coordinates": list(place)})
    },
)
"""Records of which most have a position, in `location`."""
_amounts = st.sampled_from(_AMOUNTS).map(Decimal)
entries: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"account": st.sampled_from(("cash", "bank")), "amount": st.none() | _amounts | _amounts}
)
"""Records of which most have an exact decimal, in `amount`."""


def _combine(conditions: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        conditions,
        lambda inner: st.one_of(
            st.fixed_dictionaries({"and": st.lists(inner, max_size=2)}),
            st.fixed_dictionaries({"or": st.lists(inner, max_size=2)}),
            st.fixed_dictionaries({"not": inner}),
        ),
        max_leaves=3,
    )


_located = _combine(
    st.one_of(
        st.sampled_from(_CIRCLES).map(lambda circle: ["location", "near", circle]),
        st.sampled_from(_BOXES).map(lambda box: ["location", "within_box", box]),
        st.sampled_from(_POLYGONS).map(lambda polygon: ["location", "within_polygon", polygon]),
        st.integers(0, 3).map(lambda people: ["people", "gte", people]),
    )
)
_compared = _combine(
    st.one_of(
        st.tuples(st.just("amount"), st.sampled_from(("eq", "ne", "lt", "lte", "gt", "gte")), _amounts | st.integers(-1, 10)),
        st.tuples(st.just("amount"), st.just("in"), st.lists(_amounts, max_size=3)),
        st.tuples(st.just("amount"), st.just("type"), st.sampled_from(("number", "null", "text"))),
        st.tuples(st.just("account"), st.just("eq"), st.sampled_from(("cash", "bank"))),
    )
)


_limits = st.none() | st.integers(1, 4)


@st.composite
def _nearest(draw: st.DrawFn) -> Asked:
    filter_ = {"and": [draw(_located), ["location", "type", "object"]]}
    sort = [["location", draw(st.sampled_from(("asc", "desc"))), {"from": draw(st.sampled_from(_CENTRES))}], [[], "asc"]]
    page = {"skip": draw(st.integers(0, 2)), "limit": draw(_limits)}
    return "find", Query.model_validate({"filter": filter_, "sort": sort, "fields": draw(st.sampled_from((None, [], ["people"]))), **page})


@st.composite
def _dearest(draw: st.DrawFn) -> Asked:
    filter_ = {"and": [draw(_compared), ["amount", "type", "number"]]}
    sort = [["amount", draw(st.sampled_from(("asc", "desc")))], [[], "asc"]]
    return "find", Query.model_validate({"filter": filter_, "sort": sort, "fields": draw(st.sampled_from((None, ["amount"])))})


@st.composite
def _draw_aggregation(draw: st.DrawFn) -> Asked:
    measures = [["count"], ["sum", "amount"], ["min", "amount"], ["max", "amount"], ["distinct", "amount"]]
    chosen = draw(st.lists(st.sampled_from(measures), min_size=1, max_size=3, unique_by=str))
    by = draw(st.sampled_from(({}, {"account": "account"}, {"amount": "amount"})))
    compute = {f"m{number}": measure for number, measure in enumerate(chosen)}
    return "aggregate", Aggregation.model_validate({"filter": draw(_compared), "by": by, "compute": compute})


def _of(filters: st.SearchStrategy[Any], operation: str, request: type[Where], **further: Any) -> st.SearchStrategy[Asked]:
    return filters.map(lambda written: (operation, request.model_validate({"filter": written, **further})))


def place_requests(operations: frozenset[str]) -> st.SearchStrategy[Asked]:
    """Geospatial requests; only for those of `operations` that read."""
    known = {
        "find": _of(_located, "find", Query, fields=[]) | _nearest(),
        "count_where": _of(_located, "count_where", Where),
        "aggregate": _of(_located, "aggregate", Aggregation, compute={"n": ["count"], "people": ["sum", "people"]}),
    }
    return st.one_of([known[name] for name in known if name in operations])


def entry_requests(operations: frozenset[str]) -> st.SearchStrategy[Asked]:
    """Requests on exact decimals; only for those of `operations` that read."""
    known = {
        "find": _of(_compared, "find", Query) | _dearest(),
        "count_where": _of(_compared, "count_where", Where),
        "aggregate": _draw_aggregation(),
    }
    return st.one_of([known[name] for name in known if name in operations])
