"""A store that is struck while it makes itself must start afterwards, and take writes."""

from __future__ import annotations

import random

import pytest

from storeproof.errors import NotAvailable
from storeproof.experiments.durability.bootstrap import strike_births
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.faults import find
from storeproof.launch.handle import Handle
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest

_SOON = 1.0
_MORE = 2
"""A first start of less than so many seconds is struck so many times as often: there is little that a moment can miss."""


@pytest.mark.parametrize(
    ("fault", "guarantee"),
    [
        pytest.param(fault, guarantee, id=fault, marks=pytest.mark.case(id=f"durability.bootstrap/{fault}", guarantee=guarantee))
        for fault, guarantee in (("process_kill", "process_crash"), ("power_cut", "power_loss"))
    ],
)
def test_bootstrap(sut: StoreUnderTest, case_result: CaseResult, fault: str, guarantee: str) -> None:
    """Killed, or cut off, at random moments of the first start; who claims to survive the fault survives it here too."""
    struck = find(fault)

    def make(purpose: str = "the first starts") -> Handle:
        handle = sut.make(purpose, on_volume=struck.cuts_off)
        if handle.data is None:  # where its directory must be emptied, we must reach it
            handle.close()
            handle = sut.make(purpose, on_volume=True)
        return handle

    first = make()
    try:
        if reason := struck.cannot(first):
            raise NotAvailable(reason)
        longest = sut.first_start(first)
        layouts = layouts_of(sut, first)
    finally:
        first.close()
    launch = sut.target.store.launch
    births = strike_births(
        make,
        struck,
        layouts,
        rounds=sut.scale.durability.rounds * (_MORE if longest < _SOON else 1),
        longest=longest,
        by_commands=launch.process is not None and bool(launch.process.initialise),
        connect=sut.connect,
        rng=random.Random(f"{sut.seed} {sut.target.id} bootstrap {fault}"),
        progress=lambda text: sut.progress(f"durability.bootstrap/{fault} · {text}"),
    )
    case_result.spoiled += births.spoiled
    detail = births.detail(f"seed {sut.seed}; reproduce: {sut.command(f'test_bootstrap and {fault}')}")
    outcome = births.outcome(claimed=sut.target.configuration.promises(guarantee))
    if outcome is Outcome.PASS:
        case_result.add(detail)
    else:
        case_result.settle(outcome, detail, births.findings)
