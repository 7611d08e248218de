"""Each rung of the durability ladder, with the fault that tests it. Guarantees that are not claimed are tested too."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from storeproof.blame import judge_error
from storeproof.cleanup.registry import registry
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.run_guarantees import run_guarantee
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult, finding_of
from storeproof.spec import LADDER, NODES
from storeproof.spec.guarantee import GuaranteeName, NodeGuaranteeName
from storeproof.spec.known_failure import CaseFinding
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.{name}", guarantee=name)) for name in (*LADDER[1:], *NODES)],
)
def test_guarantee(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName | NodeGuaranteeName) -> None:
    """The guarantee's fault strikes a store under load, many times; afterwards every acknowledged write must be present."""
    claimed = sut.target.configuration.promises(guarantee)
    case_result.again = sut.command(f"test_guarantee and {guarantee}")
    summary = DurabilitySummary()
    outcome, detail = Outcome.ERROR, "the rounds were not finished"
    findings: Sequence[str | CaseFinding] = ()
    try:
        run_guarantee(sut, guarantee, summary)
        outcome, detail, findings = summary.outcome(claimed=claimed), summary.detail(), summary.findings_of(claimed=claimed)
    except Exception as reason:
        judged = judge_error(reason, claimed=claimed)
        outcome, detail, findings = judged.outcome, judged.detail, [finding_of(reason, judged)]
        raise
    finally:  # a guarantee has its record also where its case ends early
        if registry.interrupt is not None:  # also where a clean-up's own failure took the interrupt's place
            outcome, detail = Outcome.INCONCLUSIVE, "interrupted between the rounds"
        sut.record.guarantees.append(summary.record(guarantee, case_result.known(outcome, findings or [detail]), detail))
    summary.report(case_result, claimed=claimed)
