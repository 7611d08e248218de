"""A disk that becomes full: nothing that was acknowledged is missing, and with space the store comes back."""

from __future__ import annotations

import random

import pytest

from storeproof.errors import NotAvailable
from storeproof.experiments.durability.full_disk import FullDisk
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.launch.handle import Capability
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.case(id="durability.full_disk")
def test_full_disk(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The volume is filled while clients write. What may be missing then is what the variant does not promise to keep."""
    handle = sut.launch("the full disk", on_volume=True)
    try:
        if reason := handle.cannot(Capability.CUT_POWER):
            raise NotAvailable(reason)
        filled = FullDisk(
            handle,
            layouts_of(sut, handle),
            connect=sut.connect,
            clients=sut.scale.durability.clients,
            restarts=sut.target.configuration.promises("clean_restart"),
            rng=random.Random(f"{sut.seed} {sut.target.id} full_disk"),
        ).run()
    finally:
        handle.close()
    detail = filled.detail()
    outcome = filled.outcome(sut.target.configuration.promises)
    if outcome is Outcome.PASS:
        case_result.add(detail)
    else:
        case_result.settle(
            outcome, f"{detail}\nreproduce: {sut.command('test_full_disk')}", filled.findings(sut.target.configuration.promises)
        )
