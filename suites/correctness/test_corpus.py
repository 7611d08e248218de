"""The requests of the corpus' workloads, on articles that were loaded, updated, added and removed: what is measured was right before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from storeproof.contract import Collection, Key, Layout, Unsupported, call, supports
from storeproof.contract.notation import shown
from storeproof.corpus.articles import articles
from storeproof.experiments.workspace import OpenCollection
from storeproof.load.job import label
from storeproof.load.requests import requests
from storeproof.oracle import query as oracle
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.records.self_verifying import recipe
from storeproof.result.case_result import CaseResult
from storeproof.spec import Mix
from storeproof.spec.query import SEARCHES, Browse, Query
from storeproof.store_under_test import StoreUnderTest

_MODEL = "corpus"
_LOADED = 84
"""Six in each language."""
_ASKED = 12
"""Requests of each kind."""

Records = Mapping[Key, Any]


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


def wrong_answer(collection: Collection, layout: Layout, records: Records, operation: str, request: Any) -> str | None:
    """What is wrong with an answer, or None."""
    everything = [key for key, _ in call(collection, layout, "find", Query(filter=request.filter, fields=()))]
    found = {key: records[key] for key in everything if key in records}
    if len(found) < len(everything):
        return f"{len(everything)} records were found; only {len(found)} of them exist and were found once"
    wanted = {key for key, record in records.items() if oracle.holds(request.filter, record)}
    if lost := sorted(wanted - found.keys(), key=str):
        return f"{lost[0]} was not found, and {len(lost) - 1} more"
    # A text index may know other forms of a word; whatever else is asked for has one answer.
    if (more := found.keys() - wanted) and not _searches(request.filter):
        return f"{min(more, key=str)} was found, but does not match"
    answer = call(collection, layout, operation, request)
    if operation == "count_where":
        return None if answer == len(found) else f"the count is {answer}, but {len(found)} were found"
    if isinstance(request, Browse):
        return _wrong_page(found, request, answer.keys) or _wrong_facets(found, request, answer)
    if operation == "find":
        parts = {key: oracle.find({key: found[key]}, Query(fields=request.fields))[0][1] for key, _ in answer if key in found}
        torn = [key for key, part in answer if parts.get(key) != part]
        return _wrong_page(found, request, [key for key, _ in answer]) or (
            f"{torn[0]} does not have the requested fields" if torn else None
        )
    return f"{operation} has no check here"


def _wrong_page(found: Records, request: Query | Browse, keys: list[Key]) -> str | None:
    """Of records with equal values either may stand first: the values are compared."""
    wanted = [key for key, _ in oracle.find(found, Query(sort=request.sort, limit=request.limit or None))] if request.limit != 0 else []
    if len(set(keys)) != len(wanted) or not set(keys) <= found.keys():
        return f"the page is {keys}; expected {len(wanted)} of {len(found)} records"
    paths = [sort.path for sort in request.sort if sort.path]
    values, right = ([[oracle.at(found[key], path) for path in paths] for key in page] for page in (keys, wanted))
    return None if values == right else f"the page is sorted as {values}; expected {right}"


def _wrong_facets(found: Records, request: Browse, answer: Any) -> str | None:
    right = oracle.browse(found, Browse(facets=request.facets))
    if answer.total != right.total:
        return f"the total is {answer.total}; expected {right.total}"
    return None if answer.facets == right.facets else f"the facets are {answer.facets}; expected {right.facets}"


def _searches(condition: Any) -> bool:
    parts = getattr(condition, "parts", None) or [each for each in [getattr(condition, "part", None)] if each is not None]
    return getattr(condition, "operator", None) in SEARCHES or any(map(_searches, parts))
