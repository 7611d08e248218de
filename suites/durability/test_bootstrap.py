"""After a fault during its first start, a store must start and accept writes."""

from __future__ import annotations

import pytest

from storeproof.experiments.run_other_faults import run_bootstrap
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    ("fault", "guarantee"),
    [
        pytest.param(fault, guarantee, id=fault, marks=pytest.mark.case(id=f"durability.bootstrap/{fault}", guarantee=guarantee))
        for fault, guarantee in (("process_kill", "process_crash"), ("power_cut", "power_loss"))
    ],
)
def test_bootstrap(sut: StoreUnderTest, case_result: CaseResult, fault: str, guarantee: str) -> None:
    """A kill or a power cut at a random moment of the first start. A store that claims to survive the fault must survive it here too."""
    summary = run_bootstrap(sut, fault)
    case_result.again = sut.command(f"test_bootstrap and {fault}")
    summary.report(case_result, claimed=sut.target.configuration.promises(guarantee))
