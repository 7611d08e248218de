"""What a case leaves in its record as data, beside the words of its detail."""

from __future__ import annotations

import pytest

from storeproof.contract import Unsupported
from storeproof.errors import NotAvailable
from storeproof.outcome import Lack, Outcome, Stage
from storeproof.result.measured.case_records import Lacked
from storeproof.result.model import OutcomeRecord
from storeproof.result.recorder import StoreRecord
from storeproof.result.running_case import CaseResult
from tests.shipped import SHIPPED


def ended_by(*errors: Exception, claimed: bool = False) -> OutcomeRecord:
    """The record of a case that the errors ended, one an attempt."""
    (target,) = SHIPPED.targets(["sqlite"])
    record = StoreRecord(target)
    case = CaseResult(record, Stage.CORRECTNESS, "x", 1, "", (), claimed=claimed)
    for error in errors:
        case.note_error(error)
        case.begin_again()
    case.close()
    return record.outcomes[0]


@pytest.mark.parametrize(("claimed", "why"), [(False, "no clock"), (True, "claimed, but no clock")])
def test_a_refusal_is_kept_without_the_operation_that_the_detail_names(*, claimed: bool, why: str) -> None:
    """So that tables show one reason for many operations."""
    found = ended_by(Unsupported("no clock", "put_expiring on single_key"), claimed=claimed)
    assert (found.why, "put_expiring on single_key" in found.detail) == (why, True)
    assert ended_by(Unsupported("put on a shelf: full")).why == "put on a shelf: full"


def test_what_was_lacking_is_kept_of_a_case_that_was_not_run_and_of_no_other() -> None:
    """Also where an attempt before it ended otherwise."""
    lacking = NotAvailable("its data is elsewhere", "--data-dir DIR", Lack.DISK)
    assert ended_by(lacking).lacked == ended_by(TimeoutError(), lacking).lacked == Lacked(what=Lack.DISK)
    assert ended_by(NotAvailable("no server")).lacked is None
    assert ended_by(TimeoutError()).lacked is None
    assert ended_by(lacking).outcome is Outcome.NOT_RUN
