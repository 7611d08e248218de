"""Transactions across faults: transfers between accounts, while a server is killed or loses power, or a cluster its primary."""

from __future__ import annotations

import pytest

from storeproof.contract import Refused
from storeproof.errors import StoreDied
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.run_guarantees import run_transfers
from storeproof.result.measured.cluster_round import case_rounds
from storeproof.result.running_case import CaseResult
from storeproof.spec.guarantee import SUDDEN, GuaranteeName, NodeGuaranteeName
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.transfers/{name}", guarantee=name)) for name in SUDDEN],
)
def test_transfers_are_whole(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName | NodeGuaranteeName) -> None:
    """Each transfer happened whole or not at all, and every acknowledged one is there. One without a reply may have happened."""
    case_result.again = sut.command(f"transfers_are_whole and {guarantee}")
    summary = TransferSummary.of(sut.target, guarantee)
    try:
        run_transfers(sut, guarantee, summary)
    except (StoreDied, Refused) as reason:
        case_result.end(reason)
    finally:
        if summary.cluster_rounds:
            sut.record.failovers.append(case_rounds(f"durability.transfers/{guarantee}", "transfers", summary.cluster_rounds))
    summary.report(case_result, claimed=summary.promised(sut.target, guarantee))
