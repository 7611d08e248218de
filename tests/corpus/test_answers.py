"""The check of the workloads' requests catches each way to answer them wrong, and lets the oracle pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from storeproof.contract import Found, Key, Layout
from storeproof.corpus.articles import articles
from storeproof.load.requests import requests
from storeproof.oracle import query as oracle
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from storeproof.spec.query import Browse, Query, Where
from storeproof.suites.correctness.test_corpus import wrong_answer
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
        ("facets", "browse", lambda found: Found(found.total, found.keys, {**found.facets, "languages": []}), "the facets are"),
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
