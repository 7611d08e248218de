"""The check of the workloads' requests catches each way to answer them wrong, and lets the oracle pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from storeproof.contract import FacetedPage, Key, Layout
from storeproof.corpus.articles import articles
from storeproof.experiments.correctness.request_answers import wrong_answer
from storeproof.load.requests import requests
from storeproof.oracle import query as oracle
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from storeproof.spec.query import Aggregation, Browse, Query, Where
from tests.load.memory import Memory
from tests.shipped import SHIPPED

SPEC = SHIPPED
MODEL = SPEC.models["corpus"]
MADE = recipe(MODEL)
RECORDS: dict[Key, Any] = {key: MADE.make(key, f"0:{number}") for number in range(84) if (key := MADE.key(number))}
MIXES: dict[str | None, Mix] = {mix.name: mix for mix in SPEC.workloads["corpus-browse"].mix if mix.request is not None}

Lie = Callable[[Any], Any]


class Oracle(Memory):
    """Answers as the oracle does, but for what lies make of it."""

    def __init__(self, lies: dict[str, Lie]) -> None:
        super().__init__()
        self.lies = lies

    def find(self, query: Query) -> Any:
        whole = query.fields == () and query.limit is None
        return self.lies.get("all" if whole else "find", list)(oracle.find(RECORDS, query))

    def count_where(self, where: Where) -> int:
        return oracle.count_where(RECORDS, where)

    def browse(self, browse: Browse) -> Any:
        found = oracle.browse(RECORDS, browse)
        return self.lies.get("browse", lambda true: true)(found)


def _findings(name: str, **lies: Lie) -> list[str]:
    mix = MIXES[name]
    asked = requests(MODEL, mix, articles(), 84)[:20]
    answers = [wrong_answer(Oracle(lies), Layout("t", MODEL), RECORDS, mix.operation, request) for (request,) in asked]
    return [each for each in answers if each is not None]


PRODUCT = recipe(SPEC.models["product"])
PRODUCTS: dict[Key, Any] = {key: PRODUCT.make(key, f"0:{number}") for number in range(40) if (key := PRODUCT.key(number))}
PAGE = Query.model_validate({"filter": ["price", "gt", 0], "sort": [["color", "asc"]], "skip": 5, "limit": 10})
ROWS = Aggregation.model_validate(
    {
        "by": {"stock": {"path": "stock", "width": 2.0**52}},
        "compute": {"n": ["count"], "sum": ["sum", "price"], "most": ["max", "price"], "half": ["percentile", "price", 0.5]},
        "sort": [["stock", "desc"]],
        "limit": 2,
    }
)


class Products(Memory):
    """Answers as the oracle does, but for what one lie makes of it."""

    def __init__(self, lie: Lie) -> None:
        super().__init__()
        self.lie = lie

    def find(self, query: Query) -> Any:
        found = oracle.find(PRODUCTS, query)
        return found if query.fields == () and query.limit is None else self.lie(found)

    def count_where(self, where: Where) -> int:
        return self.lie(oracle.count_where(PRODUCTS, where))  # type: ignore[no-any-return]

    def aggregate(self, request: Aggregation) -> Any:
        return self.lie(oracle.aggregate(PRODUCTS, request))


def _wrong(operation: str, request: Any, lie: Lie) -> str | None:
    return wrong_answer(Products(lie), Layout("t", SPEC.models["product"]), PRODUCTS, operation, request)


def _either_percentile(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    every = oracle.aggregate(PRODUCTS, ROWS.model_copy(update={"limit": None}))
    kind = {"half": ROWS.compute["half"].model_copy(update={"kind": "interpolated"})}
    other = oracle.aggregate(PRODUCTS, ROWS.model_copy(update={"limit": None, "compute": {**ROWS.compute, **kind}}))
    return [{**row, "half": next(each["half"] for each in other if each["stock"] == row["stock"])} for row in rows if row in every]


def _summed_in_another_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "sum": row["sum"] * (1 + 1e-15)} for row in rows]


@pytest.mark.parametrize("lie", [lambda rows: rows, _either_percentile, _summed_in_another_order])
def test_what_a_store_may_choose_is_not_wrong(lie: Lie) -> None:
    """One of two percentiles, and the order in which doubles are added."""
    assert _wrong("aggregate", ROWS, lie) is None
    assert _wrong("find", PAGE, lambda found: found) is None


@pytest.mark.parametrize(
    ("operation", "request_", "lie"),
    [
        ("find", PAGE, lambda found: found[1:]),
        ("find", PAGE, lambda _: oracle.find(PRODUCTS, PAGE.model_copy(update={"skip": 0}))),
        ("count_where", Where.model_validate({"filter": ["price", "gt", 0]}), lambda count: count + 1),
        ("aggregate", ROWS, lambda rows: rows[1:]),
        ("aggregate", ROWS, lambda rows: rows[:1] if len(rows) == 2 else rows),
        ("aggregate", ROWS, lambda rows: rows[::-1] if len(rows) == 2 else rows),
        ("aggregate", ROWS, lambda rows: [{**row, "n": row["n"] + 1} for row in rows]),
        ("aggregate", ROWS, lambda rows: [{**row, "sum": row["sum"] * (1 + 1e-6)} for row in rows]),
        ("aggregate", ROWS, lambda rows: [{**row, "most": row["most"] * (1 + 1e-15)} for row in rows]),
        ("aggregate", ROWS, lambda rows: [{**row, "half": row["half"] * 1.001} for row in rows]),
        ("aggregate", ROWS, lambda rows: [{**row, "sum": None} for row in rows]),
    ],
)
def test_a_wrong_page_or_group_is_found(operation: str, request_: Any, lie: Lie) -> None:
    """Whichever of its values is wrong, and whether one is missing, out of order or too many."""
    assert _wrong(operation, request_, lie) is not None


@pytest.mark.parametrize("name", ["search", "facets", "page"])
def test_the_oracle_is_right(name: str) -> None:
    """Without a lie there is no finding."""
    assert _findings(name) == []


@pytest.mark.parametrize(
    ("name", "where", "lie", "message"),
    [
        ("search", "all", lambda found: found[1:], "was not found"),
        ("page", "all", lambda found: [*found, next((key, {}) for key in RECORDS if (key, {}) not in found)], "but does not match"),
        ("page", "all", lambda found: [*found, ("xx:1", {})], "of them exist"),
        ("search", "find", lambda found: found[:-1], "the page is"),
        ("search", "find", lambda found: [*found[:-1], found[0]], "the page is"),
        ("search", "find", lambda found: [(key, {"title": "x"}) for key, _ in found], "does not have the requested fields"),
        ("page", "find", lambda found: found[::-1], "the page is sorted"),
        ("facets", "browse", lambda found: found._replace(total=found.total + 1), "the total is"),
        ("facets", "browse", lambda found: found._replace(keys=found.keys[::-1]), "the page is sorted"),
        ("facets", "browse", lambda found: FacetedPage(found.total, found.keys, {**found.facets, "languages": []}), "the facets are"),
        (
            "facets",
            "browse",
            lambda found: found._replace(
                facets={name: [(value, count + 1) for value, count in each] for name, each in found.facets.items()}
            ),
            "the facets are",
        ),
    ],
)
def test_a_wrong_answer_is_found(name: str, where: str, lie: Lie, message: str) -> None:
    """Each kind of lie is named in a finding."""
    found = _findings(name, **{where: lie})
    assert found
    assert any(message in each for each in found), found[0]
