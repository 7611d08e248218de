"""A disk that answers with errors: a store may refuse, go read-only or end, and has what it acknowledged."""

from __future__ import annotations

import pytest

from storeproof.experiments.io_errors.error_summary import ErrorSummary
from storeproof.experiments.io_errors.run_io_errors import run_io_errors
from storeproof.result.running_case import CaseResult
from storeproof.spec.cases import io_errors_case
from storeproof.spec.guarantee import IO_ERRORS, IoError
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "error", [pytest.param(name, id=name, marks=pytest.mark.case(id=io_errors_case(name), guarantee="power_loss")) for name in IO_ERRORS]
)
def test_every_error_of_a_disk(sut: StoreUnderTest, case_result: CaseResult, error: IoError) -> None:
    """Each call of one load fails in turn, once and with all later ones; then the power is cut, and the disk works again."""
    case_result.again = sut.command(f"test_every_error_of_a_disk and {error}")
    summary = ErrorSummary(error=error)
    run_io_errors(sut, summary)
    case_result.io_errors = summary.counts()
    summary.report(case_result, claimed=sut.target.configuration.promises("power_loss"))
