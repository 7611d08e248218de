"""Random transactions of concurrent clients: nothing that they see together is forbidden by what the store guarantees at the level."""

from __future__ import annotations

from contextlib import closing

import pytest

from storeproof.contract import OPERATIONS, Collection, Layout, Session, WholeTransactions, supports, why_not
from storeproof.contract.sessions import Transactions
from storeproof.errors import NotAvailable
from storeproof.experiments.case_collections import OpenCollection, Workspace, fill, others
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.experiments.isolation.run_isolation import run_isolation
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.outcome import Lack, Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import LEVELS, Isolation
from storeproof.spec.isolation import Promise, TransactionMix
from storeproof.store_under_test import StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    of_clusters = metafunc.function is test_reads_of_all_nodes_fit_together
    cases = [
        pytest.param(level, mix, id=f"{level}-{name}", marks=pytest.mark.case(id=isolation_case(level, name), model=mix.model))
        for level in LEVELS
        for name, mix in suite_run(metafunc.config).spec.mixes.items()
        if mix.of_a_cluster is of_clusters
    ]
    metafunc.parametrize(("level", "mix"), cases)


def test_transactions_see_what_their_level_allows(
    level: Isolation, mix: TransactionMix, sut: StoreUnderTest, session: Session, case_result: CaseResult, fresh: OpenCollection
) -> None:
    """Each transaction says what it read and wrote; which must have come before which follows from that, and a cycle is an anomaly."""
    promise = _promise(level, mix, sut, case_result)
    case_result.again = sut.command(f"test_transactions_see_what_their_level_allows and {level} and {mix.mix}")
    collection, layout = fresh(mix.model, int(mix.records == "groups" and sut.target.claims("indexes.nested")))
    _require(collection, session, level, mix, sut, case_result)
    fill(collection, layout, others(mix.beside), 100)
    _judge(sut, sut.shared(), layout, level, mix, promise, case_result)


def test_reads_of_all_nodes_fit_together(level: Isolation, mix: TransactionMix, sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The same of a cluster of its own, if the transactions that only read are sent to any node, and if they are all at its primary.

    What the first shows and the second does not comes of the nodes. Its files are on a disk: what waits for that at the same time becomes
    visible in an order of its own.
    """
    promise = _promise(level, mix, sut, case_result)
    case_result.again = sut.command(f"test_reads_of_all_nodes_fit_together and {level} and {mix.mix}")
    with closing(sut.launch("reads at all nodes")) as handle, closing(sut.connect(handle)) as session:
        if lacking := handle.cannot(FaultMeans.CLUSTER):
            raise lacking
        collection, layout = Workspace(sut, session).fresh(mix.model)
        _require(collection, session, level, mix, sut, case_result)
        handle.wait_whole()
        _judge(sut, handle, layout, level, mix, promise, case_result)


def _promise(level: Isolation, mix: TransactionMix, sut: StoreUnderTest, case_result: CaseResult) -> Promise:
    """What the variant is held to. Raises `EndCase`: nothing; `NotAvailable`: it has no other nodes."""
    promise = sut.target.promise(level, mix)
    case_result.claimed = promise is not None
    if level not in sut.target.isolation:
        case_result.settle(Outcome.UNSUPPORTED, f"the store's file has no isolation level {level.replace('_', ' ')}")
    if mix.of_a_cluster and sut.target.cluster is None:
        raise NotAvailable(f"{sut.target.id} is a single server: there is no other node to read", lack=Lack.NODES)
    if promise is None:
        case_result.settle(Outcome.UNSUPPORTED, f"the store's file says nothing of {level.replace('_', ' ')} across nodes")
    return promise


def _require(
    collection: Collection, session: Session, level: Isolation, mix: TransactionMix, sut: StoreUnderTest, case_result: CaseResult
) -> None:
    """Raises `EndCase`: the store does not do what the mix needs."""
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


def _judge(
    sut: StoreUnderTest,
    handle: Handle,
    layout: Layout,
    level: Isolation,
    mix: TransactionMix,
    promise: Promise,
    case_result: CaseResult,
) -> None:
    """Raises `EndCase` unless it is a pass."""
    summary = IsolationSummary(level=level, mix=mix.mix, guarantees=promise.guarantees)
    run_isolation(sut, handle, layout, mix, summary, case_result.attempt)
    case_result.isolation = summary.counts()
    summary.report(case_result, claimed=True)
