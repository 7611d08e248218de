"""Random transactions of concurrent clients: nothing that they see together is forbidden by what the store guarantees at the level."""

from __future__ import annotations

import pytest

from storeproof.contract import OPERATIONS, Session, WholeTransactions, supports, why_not
from storeproof.contract.sessions import Transactions
from storeproof.experiments.case_collections import OpenCollection, fill, others
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.experiments.isolation.run_isolation import run_isolation
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import LEVELS, Isolation
from storeproof.spec.isolation import TransactionMix
from storeproof.store_under_test import StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = [
        pytest.param(level, mix, id=f"{level}-{name}", marks=pytest.mark.case(id=isolation_case(level, name), model=mix.model))
        for level in LEVELS
        for name, mix in suite_run(metafunc.config).spec.mixes.items()
    ]
    metafunc.parametrize(("level", "mix"), cases)


def test_transactions_see_what_their_level_allows(
    level: Isolation, mix: TransactionMix, sut: StoreUnderTest, session: Session, case_result: CaseResult, fresh: OpenCollection
) -> None:
    """Each transaction says what it read and wrote; which must have come before which follows from that, and a cycle is an anomaly."""
    claim = sut.target.isolation.get(level)
    case_result.claimed = claim is not None
    if claim is None:
        case_result.settle(Outcome.UNSUPPORTED, f"the store's file has no isolation level {level.replace('_', ' ')}")
    case_result.again = sut.command(f"test_transactions_see_what_their_level_allows and {level} and {mix.mix}")
    collection, layout = fresh(mix.model, int(mix.records == "groups" and sut.target.claims("indexes.nested")))
    needs = {"values": "put", "lists": "append", "groups": "find"}[mix.records]
    if not supports(collection, needs) or (mix.records == "groups" and not sut.target.claims("filter.eq-text")):
        case_result.settle(Outcome.UNSUPPORTED, why_not(collection, OPERATIONS[needs].family.__name__))
    if isinstance(session, Transactions):
        session.begin(level)
        session.rollback()
    elif not isinstance(collection, WholeTransactions):
        case_result.settle(Outcome.FAIL, "claimed, but the adapter has neither transactions that stay open nor such that are one request")
    elif mix.records != "values":
        case_result.settle(Outcome.UNSUPPORTED, "a transaction of this store is one request, and is tried with whole records alone")
    fill(collection, layout, others(mix.beside), 100)
    summary = IsolationSummary(level=level, mix=mix.mix, guarantees=claim.guarantees)
    run_isolation(sut, layout, mix, summary, case_result.attempt)
    case_result.isolation = summary.counts()
    summary.report(case_result, claimed=True)
