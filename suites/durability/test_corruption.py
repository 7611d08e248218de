"""Damaged files: a store that claims to detect corruption must not serve data that no client wrote. What other stores do is recorded."""

from __future__ import annotations

import pytest

from storeproof.blame import CaseEnding, outcome_of
from storeproof.contract import Refused, Unknown
from storeproof.experiments.durability.file_damage import DamageKind
from storeproof.experiments.run_other_faults import run_corruption
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind, marks=pytest.mark.case(id=f"durability.corruption/{kind}")) for kind in ("flip", "truncate")]
)
def test_corruption(sut: StoreUnderTest, case_result: CaseResult, kind: DamageKind) -> None:
    """The store is killed, one of its newest files is damaged, it is started, and everything is read."""
    try:
        summary = run_corruption(sut, kind)
    except (Refused, Unknown) as reason:
        outcome = outcome_of(CaseEnding.NO_ANSWER, claimed=sut.target.detects_corruption)
        case_result.settle(outcome, f"the store refuses the data that is to be damaged: {reason}")
    case_result.again = sut.command(f"test_corruption and {kind}")
    case_result.damage = summary.counts
    summary.report(case_result, claimed=sut.target.detects_corruption)
