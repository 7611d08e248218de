"""A disk that becomes full: no acknowledged write is missing, and the store works again once there is space."""

from __future__ import annotations

import pytest

from storeproof.experiments.run_other_faults import run_full_disk
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.case(id="durability.full_disk")
def test_full_disk(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The volume is filled while clients write. Only writes that the variant does not claim to keep may be missing afterwards."""
    summary = run_full_disk(sut)
    case_result.again = sut.command("test_full_disk")
    summary.report(case_result, claimed=summary.claimed(sut.target.configuration.promises))
