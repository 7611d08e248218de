"""Random requests on random documents, store against oracle. Hypothesis shrinks a failure to few documents and one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import strategies as st

from storeproof.blame import CaseEnding, ending_of
from storeproof.contract import Collection, Key, Layout, Refused, Unsupported, call, supports
from storeproof.contract.notation import shown
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.correctness.random_examples import FailingExample, NotCleared, try_examples
from storeproof.oracle import same_answer, step
from storeproof.oracle.measured_requests import entries, entry_requests, place_requests, places
from storeproof.oracle.requests import Asked, documents, may_refuse, mixed, requests
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult
from storeproof.spec.known_failure import CaseFinding
from storeproof.spec.query import Aggregation
from storeproof.store_under_test import StoreUnderTest

_SUBJECTS: Mapping[str, tuple[st.SearchStrategy[Any], Callable[[frozenset[str]], st.SearchStrategy[Asked]]]] = {
    "product": (documents | documents | mixed, requests),
    "place": (places, place_requests),
    "ledger": (entries, entry_requests),
}
"""By model: records, and requests of some operations."""
_REQUESTS = 3
"""For each of the scale's steps: they change nothing, and cost less."""


@pytest.mark.parametrize("model", [pytest.param(name, marks=pytest.mark.case(id=f"requests.{name}", model=name)) for name in _SUBJECTS])
def test_random_requests(model: str, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """Random queries, aggregations and facets over random records get the oracle's answers."""
    collection, layout = fresh(model)
    operations = frozenset(name for name in ("find", "count_where", "aggregate", "browse") if supports(collection, name))
    if not operations:
        case_result.settle(Outcome.UNSUPPORTED, "the adapter implements none of Find, Aggregate and Facets")
    case_result.about(model, operations)
    records, requests_of = _SUBJECTS[model]
    asked = _REQUESTS * sut.scale.correctness.steps
    refused: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    try_examples(
        st.tuples(
            st.fixed_dictionaries(dict.fromkeys("abcdefgh", st.none() | records | records | records)),
            st.lists(requests_of(operations), min_size=asked, max_size=asked),  # left to itself, Hypothesis asks five
        ),
        lambda drawn: _ask_all(
            collection, layout, {key: each for key, each in drawn[0].items() if each is not None}, drawn[1], answered, refused
        ),
        f"requests.{model}/",
        sut,
        case_result,
    )
    if not answered:
        case_result.settle(Outcome.UNSUPPORTED, "the store supports none of the requests")
    case_result.about(model, frozenset(answered))  # what was only refused is not shown by this
    case_result.add(f"{sum(answered.values())} requests: {', '.join(f'{name} {count}' for name, count in sorted(answered.items()))}")
    case_result.add("\n".join(f"unsupported: {text} ({count} times)" for text, count in sorted(refused.items())))


def _ask_all(
    collection: Collection, layout: Layout, records: Mapping[Key, Any], asked: list[Asked], answered: Counter[str], refused: Counter[str]
) -> None:
    """Put the records, ask, and remove them."""
    try:
        for key, record in records.items():
            call(collection, layout, "put", key, record)
        for operation, request in asked:
            try:
                found = call(collection, layout, operation, request)
            except Unsupported as reason:
                refused[f"{operation}: {str(reason)[:100]}"] += 1
                continue
            except Refused as reason:
                if ending_of(reason) is not CaseEnding.REFUSED:
                    raise
                if may_refuse(request):
                    refused[f"{operation}: {str(reason)[:100]}"] += 1
                    continue
                raise FailingExample("\n".join([*_list_records(records), shown(operation, (request,)), f"refused: {reason}"])) from None
            wanted = step(records, operation, (request,))[0]
            if not same_answer(operation, (request,), _sums(request, found), _sums(request, wanted)):
                text = "\n".join([*_list_records(records), f"{shown(operation, (request,))} -> {found!r}", f"expected: {wanted!r}"])
                raise FailingExample(text, CaseFinding.wrong_answer(text, operation, repr(found), repr(wanted)))
            answered[operation] += 1
        _remove(collection, layout, records)
    except FailingExample as found:
        try:
            _remove(collection, layout, records)
        except Exception as reason:  # noqa: BLE001 - told with what was found, which it must not hide
            raise NotCleared(found, reason) from None
        raise


def _remove(collection: Collection, layout: Layout, records: Mapping[Key, Any]) -> None:
    for key in records:
        call(collection, layout, "delete", key)


def _sums(request: Any, rows: Any) -> Any:
    """The sum of nothing is null or zero, as `aggregation.sum-of-nothing` records: here both are zero."""
    if not isinstance(request, Aggregation):
        return rows
    sums = {name for name, measure in request.compute.items() if measure.function == "sum"}
    return [{name: 0 if name in sums and value is None else value for name, value in row.items()} for row in rows]


def _list_records(records: Mapping[Key, Any]) -> list[str]:
    return [shown("put", (key, record)) for key, record in records.items()]
