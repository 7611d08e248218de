"""What clients see while a store is killed, paused or restarted, and for how long."""

from __future__ import annotations

import pytest

from storeproof.experiments.performance.loaded_collection import require_proof
from storeproof.experiments.performance.outage import KINDS, OutageKind
from storeproof.experiments.performance.outage_summary import OutageSummary
from storeproof.experiments.run_other_faults import run_outage
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest

_MODEL = "single_key"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each fault; those beyond the scale only where they are named."""
    struck = suite_run(metafunc.config).options.scale.performance.outage.faults
    cases = []
    for name, kind in KINDS.items():
        case = pytest.mark.case(id=f"performance.outage/{name}", fault=name, beyond_scale=name not in struck)
        cases.append(pytest.param(kind, id=name, marks=case))
    metafunc.parametrize("kind", cases)


def test_outage(sut: StoreUnderTest, case_result: CaseResult, kind: OutageKind) -> None:
    """A fault under an open loop of puts and gets: it ends, and what was acknowledged is there."""
    require_proof(sut, _MODEL, ("put", "get"))
    claimed = kind.guarantee is None or sut.target.configuration.promises(kind.guarantee)
    observed = run_outage(sut, kind, _MODEL)
    summary = OutageSummary(fault=kind.name, observed=observed, claimed=claimed, rate=sut.scale.performance.outage.rate)
    case_result.again = sut.command(f"key_access or test_outage and {kind.name}")
    outcome = case_result.known(summary.outcome(claimed=claimed), summary.findings)
    sut.record.outages.append(summary.record(outcome, summary.sentence()))
    summary.report(case_result, claimed=claimed)
