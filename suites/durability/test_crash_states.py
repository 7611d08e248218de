"""What a store does to its disk is recorded, and each state that a crash may have left is tried: it has all that was acknowledged."""

from __future__ import annotations

import pytest

from storeproof.experiments.crash_states.crash_summary import CrashSummary
from storeproof.experiments.crash_states.run_crash_states import run_crash_states
from storeproof.result.running_case import CaseResult
from storeproof.spec.cases import crash_states_case
from storeproof.spec.guarantee import CRASHES, GuaranteeName
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=crash_states_case(name), guarantee=name)) for name in CRASHES],
)
def test_every_state_of_a_crash(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName) -> None:
    """Each state of a recording, under the model that the guarantee names, is put under a start of the store."""
    case_result.again = sut.command(f"test_every_state_of_a_crash and {guarantee}")
    model = sut.spec.guarantees[guarantee].crash_model
    assert model is not None, "a guarantee about a crash names a model of what it leaves"
    summary = CrashSummary(model=model)
    run_crash_states(sut, guarantee, summary)
    case_result.crash_states = summary.counts()
    summary.report(case_result, claimed=sut.target.configuration.promises(guarantee))
