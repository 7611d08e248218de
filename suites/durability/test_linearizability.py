"""Linearizability across faults: the answers before and after a fault are those of a single copy that never failed."""

from __future__ import annotations

import pytest

from storeproof.contract import Refused
from storeproof.errors import StoreDied
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.run_guarantees import run_linearizability
from storeproof.native_support import require
from storeproof.result.running_case import CaseResult
from storeproof.spec.guarantee import SUDDEN, GuaranteeName, NodeGuaranteeName
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.linearizable/{name}", guarantee=name)) for name in SUDDEN],
)
def test_one_order_explains_answers_across_faults(
    sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName | NodeGuaranteeName
) -> None:
    """This includes answers after the fault. A write without a reply may have happened or not, but must not appear and then vanish."""
    require("a check of linearizability")
    case_result.again = sut.command(f"across_faults and {guarantee}")
    summary = LinearizabilitySummary.of(sut.target, guarantee)
    try:
        run_linearizability(sut, guarantee, summary)
    except (StoreDied, Refused) as reason:
        case_result.end(reason)
    finally:
        sut.record.histories.extend([] if sut.target.stale_reads else summary.shown)
    if summary.excused(sut.target):
        case_result.add("stale reads are declared as possible")
    summary.report(case_result, claimed=summary.promised(sut.target, guarantee))
