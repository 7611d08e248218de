"""Damaged files: a store that claims to notice must not serve what nobody wrote. No guarantee: what others do is recorded."""

from __future__ import annotations

import random

import pytest

from storeproof.contract import Refused, Unknown
from storeproof.errors import NotAvailable
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.suites.durability.corruption import Corrupted
from storeproof.suites.durability.damage import Kind
from storeproof.suites.durability.layouts import STAMPED, layouts_of
from storeproof.trial import Trial


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind, marks=pytest.mark.case(id=f"durability.corruption/{kind}")) for kind in ("flip", "truncate")]
)
def test_corruption(trial: Trial, verdict: Verdict, kind: Kind) -> None:
    """The store is killed, one of its newest files is damaged, it is started, and everything is read."""
    handle = trial.launch("damaged files")
    try:
        if handle.data is None and not handle.cannot("process_kill"):  # in a volume of the engine's own
            handle.close()
            handle = trial.launch("damaged files", on_volume=True)
        if reason := handle.cannot("process_kill"):
            raise NotAvailable(reason)
        if handle.data is None:
            raise NotAvailable("its data directory cannot be reached from here", "--data-dir DIR, or --launch=process")
        try:
            found = Corrupted(
                handle,
                layouts_of(trial, handle, STAMPED),
                connect=trial.connect,
                rng=random.Random(f"{trial.seed} {trial.target.id} corruption {kind}"),
                progress=lambda text: trial.progress(f"durability.corruption/{kind} · {text}"),
            ).run(kind, trial.scale.durability.rounds)
        except (Refused, Unknown) as reason:
            verdict.settle(Outcome.INCONCLUSIVE, f"the store does not take what is to be damaged: {reason}")
    finally:
        handle.close()
    detail = f"{found.detail()}; seed {trial.seed}; reproduce: {trial.command(f'test_corruption and {kind}')}"
    outcome = found.outcome(claimed=trial.target.detects_corruption)
    if outcome is Outcome.PASS:
        verdict.add(detail)
    else:
        verdict.settle(outcome, detail, found.findings)
