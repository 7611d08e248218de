"""What belongs to records survives a fault as they do: times to live, indexes, types, positions of change feeds, collections."""

from __future__ import annotations

import pytest

from storeproof.contract import Refused
from storeproof.errors import StoreDied
from storeproof.experiments.durability.metadata.metadata_summary import MetadataSummary
from storeproof.experiments.run_guarantees import run_metadata
from storeproof.result.running_case import CaseResult
from storeproof.spec import LADDER
from storeproof.spec.cases import metadata_case
from storeproof.spec.guarantee import GuaranteeName
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=metadata_case(name), guarantee=name)) for name in LADDER[1:]],
)
def test_what_belongs_to_records_survives_with_them(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName) -> None:
    """The guarantee's fault strikes once, after the store has rewritten its files in the middle of what was written."""
    case_result.again = sut.command(f"survives_with_them and {guarantee}")
    summary = MetadataSummary(fault=guarantee)
    try:
        run_metadata(sut, guarantee, summary)
    except (StoreDied, Refused) as reason:
        case_result.end(reason)
    summary.report(case_result, claimed=sut.target.configuration.promises(guarantee))
