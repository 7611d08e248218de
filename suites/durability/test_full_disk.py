"""A disk that becomes full: nothing that was acknowledged is missing, and with space the store comes back."""

from __future__ import annotations

import random

import pytest

from storeproof.errors import NotAvailable
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.suites.durability.full import FullDisk
from storeproof.suites.durability.layouts import layouts_of
from storeproof.trial import Trial


@pytest.mark.case(id="durability.full_disk")
def test_full_disk(trial: Trial, verdict: Verdict) -> None:
    """The volume is filled while clients write. What may be missing then is what the variant does not promise to keep."""
    handle = trial.launch("the full disk", on_volume=True)
    try:
        if reason := handle.cannot("power_cut"):
            raise NotAvailable(reason)
        filled = FullDisk(
            handle,
            layouts_of(trial, handle),
            connect=trial.connect,
            clients=trial.scale.durability.clients,
            restarts=trial.target.variant.promises("clean_restart"),
            rng=random.Random(f"{trial.seed} {trial.target.id} full_disk"),
        ).run()
    finally:
        handle.close()
    detail = filled.detail()
    outcome = filled.outcome(trial.target.variant.promises)
    if outcome is Outcome.PASS:
        verdict.add(detail)
    else:
        verdict.settle(outcome, f"{detail}\nreproduce: {trial.command('test_full_disk')}", filled.findings(trial.target.variant.promises))
