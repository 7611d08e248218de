"""Isolation across faults: what transactions see before and after a fault is what their level allows, and no commit is missing."""

from __future__ import annotations

import pytest

from storeproof.contract import Refused
from storeproof.errors import StoreDied
from storeproof.experiments.durability.workloads.isolation_rounds import MIX, IsolationRounds
from storeproof.experiments.run_guarantees import run_struck_transactions
from storeproof.native_support import require
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
from storeproof.spec.cases import ACROSS_FAULTS
from storeproof.spec.guarantee import SUDDEN, GuaranteeName, NodeGuaranteeName
from storeproof.store_under_test import StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each fault; beyond the smallest scale, unless it is named: transactions have to meet, which takes hundreds of them."""
    beyond = not suite_run(metafunc.config).options.scale.durability.isolation
    cases = [
        pytest.param(name, id=name, marks=pytest.mark.case(id=f"{ACROSS_FAULTS}/{name}", guarantee=name, beyond_scale=beyond))
        for name in SUDDEN
    ]
    metafunc.parametrize("guarantee", cases)


def test_transactions_stay_isolated(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName | NodeGuaranteeName) -> None:
    """At the strongest level that the variant has. A commit without a reply may have happened, and counts if it was seen."""
    if not sut.target.isolation:
        case_result.settle(Outcome.UNSUPPORTED, "the store's file has no isolation level")
    if MIX not in sut.spec.mixes:
        case_result.settle(Outcome.UNSUPPORTED, f"the edition has no transactions of the mix {MIX}")
    require("a check of isolation")
    case_result.again = sut.command(f"stay_isolated and {guarantee}")
    summary = IsolationRounds.of(sut.target, guarantee)
    try:
        run_struck_transactions(sut, guarantee, summary)
    except (StoreDied, Refused) as reason:
        case_result.end(reason)
    summary.report(case_result, claimed=summary.promised(sut.target, guarantee))
