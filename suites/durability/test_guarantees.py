"""Each rung of the durability ladder, by the fault that tests it. What is not claimed is tried too: the report says what was proven."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from storeproof.blame import judge
from storeproof.errors import NotAvailable
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
from storeproof.suites.durability.spoiled import limit, repeat_spoiled
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
        _strike(trial, guarantee, tally)
        outcome = tally.outcome(claimed=claimed)
        detail, findings = tally.detail(again), tally.findings(claimed=claimed)
    except Exception as reason:
        judged = judge(reason, claimed=claimed)
        outcome, detail = judged.outcome, f"{judged.detail}; {again}"
        raise
    finally:
        if registry.interrupt is not None:  # also where a clean-up's own failure took the interrupt's place
            outcome, detail = Outcome.INCONCLUSIVE, "interrupted between the rounds"
        trial.record.guarantees.append(tally.record(guarantee, verdict.known(outcome, findings or [detail]), detail))
    verdict.spoiled += tally.spoiled
    if outcome is Outcome.PASS:
        verdict.add(detail)
    else:
        verdict.settle(outcome, detail, findings)


def _strike(trial: Trial, guarantee: str, tally: Tally) -> None:
    """All rounds, added to the tally, on a store of their own; on another one where the machine spoiled a round."""
    wanted = trial.spec.guarantees[guarantee]
    assert wanted.fault is not None, f"{guarantee} names no fault, so that nothing tests it"
    fault = find(wanted.fault)
    if guarantee in NODES and trial.target.store.topology == "single":  # known before a store is started for it
        raise NotAvailable(f"{trial.target.store.store} runs as a single server: it has no nodes that could be killed one by one")
    if fault.cuts_off and trial.options.power_cut == WITHOUT_DISK:
        raise look(trial, guarantee)

    def go_on() -> None:
        with closing(trial.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)) as handle:
            if reason := fault.cannot(handle):
                raise NotAvailable(reason)
            Rounds(
                handle,
                fault,
                layouts_of(trial, handle),
                trial.scale.durability,
                connect=trial.connect,
                rng=random.Random(f"{trial.seed} {trial.target.id} {guarantee} {len(tally.spoiled)}"),
                load=wanted.load,
                second_fault=wanted.second_fault,
                ways=atomic_ways(trial.target),
                progress=lambda text: trial.progress(f"durability.{guarantee} · {text}"),
                tally=tally,
            ).run()

    tally.given_up = not repeat_spoiled(go_on, tally.spoiled, limit(trial.scale.durability.rounds))
