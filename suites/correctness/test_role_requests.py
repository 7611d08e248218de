"""The requests of a needs file, on records as its loads have them: what is measured was right before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import pytest

from storeproof.contract import Collection, Key, Layout, Unsupported, call, supports
from storeproof.contract.notation import shown
from storeproof.corpus.articles import articles
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.correctness.request_answers import wrong_answer
from storeproof.load.requests import requests
from storeproof.oracle import query as oracle
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.records.self_verifying import recipe
from storeproof.result.running_case import CaseResult
from storeproof.spec import Mix
from storeproof.spec.questions.needs import Role, ShareBound, requests_case
from storeproof.store_under_test import StoreUnderTest

_LOADED: Final = 84
"""Records; of articles six in each language. A page that begins later has as many more."""
_MOST: Final = 5000
_LONGEST: Final = 2000
"""Characters of an explanation."""
_ASKED: Final = 12
"""Requests of each kind, where they differ."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each role with requests; none without a needs file."""
    roles = {name: role for each in suite_run(metafunc.config).candidates for name, role in each.roles.items()}
    cases = {name: requests_case(name, role) for name, role in roles.items()}
    metafunc.parametrize(
        "role",
        [
            pytest.param(roles[name], id=name, marks=pytest.mark.case(id=case, model=roles[name].model))
            for name, case in cases.items()
            if case is not None
        ],
    )


def test_requests_of_a_role(role: Role, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """Every record that matches is found and no other, with and without the indexes of the load; pages and groups are right."""
    load = role.load
    assert load is not None
    case_result.about(role.model, {each.operation for each in load.requests})
    refused: dict[str, str] = {}
    answered: dict[str, int] = {}
    for indexes in dict.fromkeys((0, min(load.indexes, len(sut.spec.models[role.model].indexes)))):
        collection, layout = fresh(role.model, indexes)
        records = dict(_put(collection, layout, _how_many(role, sut)))
        for share in load.requests:
            if not supports(collection, share.operation) or not supports(collection, "find"):
                refused[share.label] = f"the store's adapter does not offer {share.operation}"
                continue
            try:
                for request in _asked(layout, share, len(records)):
                    _require_match(case_result, role, share, request, records)
                    wrong = wrong_answer(collection, layout, records, share.operation, request)
                    assert wrong is None, f"{shown(share.operation, (request,))}: {wrong}"
                    answered[share.label] = answered.get(share.label, 0) + 1
            except Unsupported as reason:
                refused[share.label] = str(reason)
    if refused:
        case_result.about(role.model, {each.operation for each in load.requests if each.label in answered and each.label not in refused})
        case_result.settle(Outcome.UNSUPPORTED, "; ".join(f"{name}: {reason}" for name, reason in refused.items()))
    case_result.add(", ".join(f"{count} × {name}" for name, count in answered.items()))


def _how_many(role: Role, sut: StoreUnderTest) -> int:
    """As many as show what more of them would answer: the first of those that the load has."""
    assert role.load is not None
    later: int = max((each.request or {}).get("skip", 0) for each in role.load.requests)
    return min(_LOADED + later, _MOST, *filter(None, (sut.options.records, role.records)))


def _put(collection: Collection, layout: Layout, count: int) -> Iterator[tuple[Key, Any]]:
    made = recipe(layout.model)
    for number in range(count):
        key = made.key(number)
        record = made.make(key, f"0:{number}")
        call(collection, layout, "put", key, record)
        yield key, record


def _asked(layout: Layout, share: ShareBound, known: int) -> Iterator[Any]:
    """The requests, each once."""
    mix = Mix(name=share.name, operation=share.operation, request=share.request)
    different = {repr(request): request for (request,) in requests(layout.model, mix, articles(), known)}
    yield from islice(different.values(), _ASKED)


def _require_match(case_result: CaseResult, role: Role, share: ShareBound, request: Any, records: dict[Key, Any]) -> None:
    """A load counts an empty answer as one that was missed, so there must be one; whether there is does not depend on the store."""
    matching, skipped = sum(oracle.holds(request.filter, record) for record in records.values()), getattr(request, "skip", 0)
    if matching > skipped:
        return
    case_result.about(role.model, ())
    found = f"{matching} of {len(records)} records match {share.label}{f', which skips {skipped}' if skipped else ''}"
    case_result.settle(
        Outcome.NOT_RUN,
        f"{found}: what is measured must find something; ask for what more records have. Texts under load are random letters and "
        f"digits, and numbers are from the whole range of their bits; one record: {next(iter(records.values()), None)!r}"[:_LONGEST],
    )
