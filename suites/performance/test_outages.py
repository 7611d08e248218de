"""What clients see of a store that is killed, halted or started again while they use it, and for how long."""

from __future__ import annotations

import pytest

from storeproof.errors import NotAvailable, StoreDied
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.performance.outage import KINDS, Kind, Outage, Seen
from storeproof.experiments.performance.outage_summary import Aftermath
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest

_MODEL = "single_key"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=name, marks=pytest.mark.case(id=f"performance.outage/{name}", fault=name)) for name, kind in KINDS.items()],
)
def test_outage(sut: StoreUnderTest, case_result: CaseResult, kind: Kind) -> None:
    """A fault under an open loop of puts and gets: it ends, and what was acknowledged is there."""
    for operation in ("put", "get"):
        if reason := sut.record.unproven(_MODEL, operation):
            case_result.settle(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it")
    claimed = kind.guarantee is None or sut.target.configuration.promises(kind.guarantee)
    again = f"seed {sut.seed}; reproduce: {sut.command(f'key_access or test_outage and {kind.name}')}"
    seen = _strike(sut, kind)
    aftermath = Aftermath(kind.name, seen, claimed=claimed, rate=sut.scale.performance.outage.rate)
    outcome, detail = aftermath.outcome, aftermath.detail()
    if outcome is not Outcome.PASS:
        detail = f"{detail}; {again}"
    sut.record.outages.append(aftermath.record(case_result.known(outcome, [detail]), detail))
    if outcome is Outcome.PASS:
        case_result.add(detail)
    else:
        log = seen.failure.log if isinstance(seen.failure, StoreDied) else ""
        case_result.settle(outcome, f"{detail}\n--- last lines of its log ---\n{log}" if log else detail, [detail])


def _strike(sut: StoreUnderTest, kind: Kind) -> Seen:
    """On a store of its own."""
    handle = sut.launch(f"the outage by {kind.name}")
    try:
        if reason := kind.fault.cannot(handle):
            raise NotAvailable(reason)
        sut.progress(f"performance.outage/{kind.name}")
        return Outage(
            handle,
            kind,
            layouts_of(sut, handle, (_MODEL,))[_MODEL],
            sut.scale.performance.outage,
            connect=sut.connect,
            seed=f"{sut.seed} {sut.target.id} outage {kind.name}",
        ).run()
    finally:
        handle.close()
