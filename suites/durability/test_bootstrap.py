"""A store that is struck at its first start must start afterwards, and take writes."""

from __future__ import annotations

import pytest

from storeproof.experiments.run_faults import run_bootstrap
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    ("fault", "guarantee"),
    [
        pytest.param(fault, guarantee, id=fault, marks=pytest.mark.case(id=f"durability.bootstrap/{fault}", guarantee=guarantee))
        for fault, guarantee in (("process_kill", "process_crash"), ("power_cut", "power_loss"))
    ],
)
def test_bootstrap(sut: StoreUnderTest, case_result: CaseResult, fault: str, guarantee: str) -> None:
    """Killed, or cut off, at random moments of the first start; who claims to survive the fault survives it here too."""
    summary = run_bootstrap(sut, fault)
    again = f"seed {sut.seed}; reproduce: {sut.command(f'test_bootstrap and {fault}')}"
    summary.report(case_result, claimed=sut.target.configuration.promises(guarantee), again=again)
