"""One server of a composite store is killed alone."""

from __future__ import annotations

import pytest

from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strikes.part import part_kill, promised
from storeproof.experiments.run_guarantees import run_part_kill
from storeproof.result.running_case import CaseResult
from storeproof.spec.store import ROLES, Role
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "role", [pytest.param(role, id=role, marks=pytest.mark.case(id=f"durability.{part_kill(role)}")) for role in ROLES]
)
def test_part(sut: StoreUnderTest, case_result: CaseResult, role: Role) -> None:
    """No acknowledged write is lost, and no older value is served, when the front or the home is killed under load and comes back.

    A kill of the home may lose what a crash of the whole may. One of the front must lose nothing, whatever is claimed: the home goes on.
    With `write-behind` it may lose what the home was not given yet, unless the variant survives a crash of both.
    """
    summary = DurabilitySummary()
    run_part_kill(sut, role, summary)
    case_result.again = sut.command(f"test_part and {role}")
    summary.report(case_result, claimed=promised(sut.target, role))
