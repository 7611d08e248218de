"""Damaged files: a store that claims to notice must not serve what nobody wrote. No guarantee: what others do is recorded."""

from __future__ import annotations

import random

import pytest

from storeproof.contract import Refused, Unknown
from storeproof.errors import NotAvailable
from storeproof.experiments.durability.corruption import Corrupted
from storeproof.experiments.durability.file_damage import Kind
from storeproof.experiments.durability.layouts import STAMPED, layouts_of
from storeproof.launch.handle import Capability
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind, marks=pytest.mark.case(id=f"durability.corruption/{kind}")) for kind in ("flip", "truncate")]
)
def test_corruption(sut: StoreUnderTest, case_result: CaseResult, kind: Kind) -> None:
    """The store is killed, one of its newest files is damaged, it is started, and everything is read."""
    handle = sut.launch("damaged files")
    try:
        if handle.data is None and not handle.cannot(Capability.KILL):  # in a volume of the engine's own
            handle.close()
            handle = sut.launch("damaged files", on_volume=True)
        if reason := handle.cannot(Capability.KILL):
            raise NotAvailable(reason)
        if handle.data is None:
            raise NotAvailable("its data directory cannot be reached from here", "--data-dir DIR, or --launch=process")
        try:
            found = Corrupted(
                handle,
                layouts_of(sut, handle, STAMPED),
                connect=sut.connect,
                rng=random.Random(f"{sut.seed} {sut.target.id} corruption {kind}"),
                progress=lambda text: sut.progress(f"durability.corruption/{kind} · {text}"),
            ).run(kind, sut.scale.durability.rounds)
        except (Refused, Unknown) as reason:
            case_result.settle(Outcome.INCONCLUSIVE, f"the store does not take what is to be damaged: {reason}")
    finally:
        handle.close()
    detail = f"{found.detail()}; seed {sut.seed}; reproduce: {sut.command(f'test_corruption and {kind}')}"
    outcome = found.outcome(claimed=sut.target.detects_corruption)
    if outcome is Outcome.PASS:
        case_result.add(detail)
    else:
        case_result.settle(outcome, detail, found.findings)
