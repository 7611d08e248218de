"""The roles of a candidate of a needs file, all under load at the same time on what its machine grants."""

from __future__ import annotations

import pytest

from storeproof.experiments.roles.joint_loads import CandidateUnderTest, JointLoads
from storeproof.load.quality.ceiling import Ceilings
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.report.speed.numbers import told
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each store of each candidate; none without a needs file."""
    cases = []
    for candidate in suite_run(metafunc.config).candidates:
        case = pytest.mark.case(id=f"performance.roles/{candidate.name}", candidate=candidate.name)
        cases += [pytest.param(candidate, sut, id=f"{candidate.name}-{sut.target.id}", marks=case) for sut in candidate.stores]
    metafunc.parametrize(("candidate", "sut"), cases, scope="session")


@pytest.fixture(scope="session")
def joint_loads(ceilings: Ceilings) -> JointLoads:
    """The loads of the run."""
    return JointLoads(ceilings)


def test_roles_together(candidate: CandidateUnderTest, sut: StoreUnderTest, case_result: CaseResult, joint_loads: JointLoads) -> None:
    """Every load is an open loop at the rate that is needed; whether that is enough, the answer to the needs says."""
    found = joint_loads.of(candidate, sut)
    sut.record.joint.append(found.load)
    for role, measured in found.load.numbers.items():
        case_result.add(f"{role}: {told(measured)}")
    if not found.load.numbers:
        case_result.add("its roles have no load; it ran beside those that have")
    if found.problems:
        case_result.settle(Outcome.FAIL, "the audit after the rounds: " + "; ".join(map(str, found.problems)), found.problems)
