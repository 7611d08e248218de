"""A disk that becomes full: nothing that was acknowledged is missing, and with space the store comes back."""

from __future__ import annotations

import pytest

from storeproof.experiments.run_faults import run_full_disk
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.case(id="durability.full_disk")
def test_full_disk(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The volume is filled while clients write. What may be missing then is what the variant does not promise to keep."""
    summary = run_full_disk(sut)
    again = f"seed {sut.seed}; reproduce: {sut.command('test_full_disk')}"
    summary.report(case_result, claimed=summary.claimed(sut.target.configuration.promises), again=again)
