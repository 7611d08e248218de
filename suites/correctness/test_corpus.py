"""The requests of the corpus' workloads, on articles that were loaded, updated, added and removed: what is measured was right before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from storeproof.contract import Collection, Key, Layout, Unsupported, call, supports
from storeproof.contract.notation import shown
from storeproof.corpus.articles import articles
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.correctness.request_answers import wrong_answer
from storeproof.load.engine import label
from storeproof.load.requests import requests
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.records.self_verifying import recipe
from storeproof.result.running_case import CaseResult
from storeproof.spec import Mix
from storeproof.store_under_test import StoreUnderTest

_MODEL = "corpus"
_LOADED = 84
"""Six in each language."""
_ASKED = 12
"""Requests of each kind."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """With the model's indexes and without: an answer out of an index is another one to be wrong."""
    numbers = (0, len(suite_run(metafunc.config).spec.models[_MODEL].indexes))
    cases = [
        pytest.param(number, id=f"{number}i", marks=pytest.mark.case(id=f"requests.corpus/{number}i", model=_MODEL)) for number in numbers
    ]
    metafunc.parametrize("indexes", cases)


def test_requests_for_articles(indexes: int, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """Every record with the words is found; pages have the right order and length, and facets the right counts."""
    collection, layout = fresh(_MODEL, indexes)
    asking = [mix for mix in _mixes(sut) if supports(collection, mix.operation) and supports(collection, "find")]
    case_result.about(_MODEL, {mix.operation for mix in asking} or {"find"})
    records = _worked_on(collection, layout)
    answered: Counter[str] = Counter()
    refused: dict[str, str] = {}
    for mix in asking:
        try:
            for (request,) in requests(layout.model, mix, articles(), _LOADED)[:_ASKED]:
                wrong = wrong_answer(collection, layout, records, mix.operation, request)
                assert wrong is None, f"{shown(mix.operation, (request,))}: {wrong}"
                answered[label(mix)] += 1
        except Unsupported as reason:
            refused[label(mix)] = str(reason)
    if not answered:
        case_result.settle(
            Outcome.UNSUPPORTED, "; ".join(f"{name}: {reason}" for name, reason in refused.items()) or "the adapter has no Find"
        )
    case_result.about(_MODEL, {mix.operation for mix in asking if answered[label(mix)]})
    case_result.add(", ".join(f"{count} × {name}" for name, count in answered.items()))
    case_result.add("\n".join(f"unsupported: {name}: {reason}" for name, reason in refused.items()))


def _mixes(sut: StoreUnderTest) -> Iterator[Mix]:
    for workload in sut.spec.workloads.values():
        if workload.model == _MODEL:
            yield from (mix for mix in workload.mix if mix.request is not None)


def _worked_on(collection: Collection, layout: Layout) -> dict[Key, Any]:
    """Loads articles and does to them what the workload does; what must be there after that."""
    made = recipe(layout.model)
    records: dict[Key, Any] = {}

    def put(number: int, write_id: str) -> None:
        key = made.key(number)
        records[key] = made.make(key, write_id)
        call(collection, layout, "put", key, records[key])

    for number in range(_LOADED + 20):
        put(number, f"0:{number}")
    for number in range(0, _LOADED, 3):
        put(number, f"1:{number}")
    for number in range(_LOADED, _LOADED + 15):
        call(collection, layout, "delete", made.key(number))
        del records[made.key(number)]
    return records
