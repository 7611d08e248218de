"""Session guarantees across faults: a client reads its own writes, and never less than it has read before."""

from __future__ import annotations

import pytest

from storeproof.contract import Refused
from storeproof.errors import StoreDied
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.run_guarantees import run_sessions
from storeproof.result.measured.cluster_round import case_rounds
from storeproof.result.running_case import CaseResult
from storeproof.spec.guarantee import SUDDEN, GuaranteeName, NodeGuaranteeName
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.sessions/{name}", guarantee=name)) for name in SUDDEN],
)
def test_sessions_never_go_back(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName | NodeGuaranteeName) -> None:
    """Through a kill or a cut of power; or the loss, isolation or pause of a primary, and at other nodes too. Where stale reads are
    possible, such reads are counted and break no promise."""
    case_result.again = sut.command(f"sessions_never_go_back and {guarantee}")
    summary = SessionSummary.of(sut.target, guarantee)
    try:
        run_sessions(sut, guarantee, summary)
    except (StoreDied, Refused) as reason:
        case_result.end(reason)
    finally:
        if summary.cluster_rounds:
            sut.record.failovers.append(case_rounds(f"durability.sessions/{guarantee}", "reads", summary.cluster_rounds))
    if summary.excused(sut.target):
        case_result.add("stale reads are declared as possible")
    summary.report(case_result, claimed=summary.promised(sut.target, guarantee))
