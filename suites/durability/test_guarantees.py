"""Each rung of the durability ladder, by the fault that tests it. What is not claimed is tried too: the report says what was proven."""

from __future__ import annotations

import random

import pytest

from storeproof.contract import Refused, Unknown
from storeproof.errors import NotAvailable, StoreDied
from storeproof.faults import find
from storeproof.launch.cleanup import registry
from storeproof.launch.disk import WITHOUT_DISK
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.spec import LADDER, NODES
from storeproof.spec.guarantee import GuaranteeName, NodeGuaranteeName
from storeproof.suites.durability.evidence import look
from storeproof.suites.durability.groups import atomic_ways
from storeproof.suites.durability.layouts import layouts_of
from storeproof.suites.durability.rounds import Rounds
from storeproof.suites.durability.tally import Tally
from storeproof.trial import Trial


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.{name}", guarantee=name)) for name in (*LADDER[1:], *NODES)],
)
def test_guarantee(trial: Trial, verdict: Verdict, guarantee: GuaranteeName | NodeGuaranteeName) -> None:
    """The guarantee's fault strikes a store under load, many times; what was acknowledged is there afterwards."""
    claimed = trial.target.variant.promises(guarantee)
    again = f"seed {trial.seed}; reproduce: {trial.command(f'test_guarantee and {guarantee}')}"
    tally, findings = Tally(), list[str]()
    outcome, detail = Outcome.ERROR, "the rounds were not finished"
    try:
        tally = _strike(trial, guarantee)
        outcome = tally.outcome(claimed=claimed)
        detail, findings = tally.detail(again), tally.findings(claimed=claimed)
    except NotAvailable as missing:
        outcome, detail = Outcome.NOT_RUN, str(missing)
        raise
    except StoreDied as reason:
        outcome, detail = Outcome.FAIL, str(reason)
        raise
    except Refused as reason:
        # An engine that needs repair after the fault answers with errors: where it promised nothing, it broke no promise.
        outcome = Outcome.FAIL if claimed else Outcome.UNSUPPORTED
        detail = f"the store refused what the rounds demand of it: {reason}; {again}"
    except Unknown as reason:
        outcome, detail = Outcome.INCONCLUSIVE, f"the store runs and does not answer: {reason}; {again}"
    finally:
        if registry.interrupt is not None:  # also where a clean-up's own failure took the interrupt's place
            outcome, detail = Outcome.INCONCLUSIVE, "interrupted between the rounds"
        trial.record.guarantees.append(tally.record(guarantee, verdict.known(outcome, findings or [detail]), detail))
    if outcome is Outcome.PASS:
        verdict.add(detail)
    else:
        verdict.settle(outcome, detail, findings)


def _strike(trial: Trial, guarantee: str) -> Tally:
    """All rounds on a store of their own."""
    wanted = trial.spec.guarantees[guarantee]
    assert wanted.fault is not None, f"{guarantee} names no fault, so that nothing tests it"
    fault = find(wanted.fault)
    if guarantee in NODES and trial.target.store.topology == "single":  # known before a store is started for it
        raise NotAvailable(f"{trial.target.store.store} runs as a single server: it has no nodes that could be killed one by one")
    if fault.cuts_off and trial.options.power_cut == WITHOUT_DISK:
        raise look(trial, guarantee)
    handle = trial.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)
    try:
        if reason := fault.cannot(handle):
            raise NotAvailable(reason)
        return Rounds(
            handle,
            fault,
            layouts_of(trial, handle),
            trial.scale.durability,
            connect=trial.connect,
            rng=random.Random(f"{trial.seed} {trial.target.id} {guarantee}"),
            load=wanted.load,
            second_fault=wanted.second_fault,
            ways=atomic_ways(trial.target),
            progress=lambda text: trial.progress(f"durability.{guarantee} · {text}"),
        ).run()
    finally:
        handle.close()
