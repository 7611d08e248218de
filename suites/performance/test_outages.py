"""What clients see of a store that is killed, halted or started again while they use it, and for how long."""

from __future__ import annotations

import pytest

from storeproof.errors import NotAvailable, StoreDied
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.suites.durability.layouts import layouts_of
from storeproof.suites.performance.aftermath import Aftermath
from storeproof.suites.performance.outage import KINDS, Kind, Outage, Seen
from storeproof.trial import Trial

_MODEL = "single_key"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=name, marks=pytest.mark.case(id=f"performance.outage/{name}", fault=name)) for name, kind in KINDS.items()],
)
def test_outage(trial: Trial, verdict: Verdict, kind: Kind) -> None:
    """A fault under an open loop of puts and gets: it ends, and what was acknowledged is there."""
    for operation in ("put", "get"):
        if reason := trial.record.unproven(_MODEL, operation):
            verdict.settle(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it")
    claimed = kind.guarantee is None or trial.target.variant.promises(kind.guarantee)
    again = f"seed {trial.seed}; reproduce: {trial.command(f'key_access or test_outage and {kind.name}')}"
    seen = _strike(trial, kind)
    aftermath = Aftermath(kind.name, seen, claimed=claimed, rate=trial.scale.performance.outage.rate)
    outcome, detail = aftermath.outcome, aftermath.detail()
    if outcome is not Outcome.PASS:
        detail = f"{detail}; {again}"
    trial.record.outages.append(aftermath.record(verdict.known(outcome, [detail]), detail))
    if outcome is Outcome.PASS:
        verdict.add(detail)
    else:
        log = seen.failure.log if isinstance(seen.failure, StoreDied) else ""
        verdict.settle(outcome, f"{detail}\n--- last lines of its log ---\n{log}" if log else detail, [detail])


def _strike(trial: Trial, kind: Kind) -> Seen:
    """On a store of its own."""
    handle = trial.launch(f"the outage by {kind.name}")
    try:
        if reason := kind.fault.cannot(handle):
            raise NotAvailable(reason)
        trial.progress(f"performance.outage/{kind.name}")
        return Outage(
            handle,
            kind,
            layouts_of(trial, handle, (_MODEL,))[_MODEL],
            trial.scale.performance.outage,
            connect=trial.connect,
            seed=f"{trial.seed} {trial.target.id} outage {kind.name}",
        ).run()
    finally:
        handle.close()
