"""A store that is struck while it makes itself must start afterwards, and take writes."""

from __future__ import annotations

import random

import pytest

from storeproof.errors import NotAvailable
from storeproof.faults import find
from storeproof.launch.handle import Handle
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.suites.durability.birth import strike_births
from storeproof.suites.durability.layouts import layouts_of
from storeproof.trial import Trial

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
def test_bootstrap(trial: Trial, verdict: Verdict, fault: str, guarantee: str) -> None:
    """Killed, or cut off, at random moments of the first start; who claims to survive the fault survives it here too."""
    struck = find(fault)

    def make(purpose: str = "the first starts") -> Handle:
        handle = trial.make(purpose, on_volume=struck.cuts_off)
        if handle.data is None:  # where its directory must be emptied, we must reach it
            handle.close()
            handle = trial.make(purpose, on_volume=True)
        return handle

    first = make()
    try:
        if reason := struck.cannot(first):
            raise NotAvailable(reason)
        longest = trial.first_start(first)
        layouts = layouts_of(trial, first)
    finally:
        first.close()
    launch = trial.target.store.launch
    births = strike_births(
        make,
        struck,
        layouts,
        rounds=trial.scale.durability.rounds * (_MORE if longest < _SOON else 1),
        longest=longest,
        by_commands=launch.process is not None and bool(launch.process.initialise),
        connect=trial.connect,
        rng=random.Random(f"{trial.seed} {trial.target.id} bootstrap {fault}"),
        progress=lambda text: trial.progress(f"durability.bootstrap/{fault} · {text}"),
    )
    verdict.spoiled += births.spoiled
    detail = births.detail(f"seed {trial.seed}; reproduce: {trial.command(f'test_bootstrap and {fault}')}")
    outcome = births.outcome(claimed=trial.target.variant.promises(guarantee))
    if outcome is Outcome.PASS:
        verdict.add(detail)
    else:
        verdict.settle(outcome, detail, births.findings)
