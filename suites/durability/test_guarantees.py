"""Each rung of the durability ladder, by the fault that tests it. What is not claimed is tried too: the report says what was proven."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from storeproof.blame import judge
from storeproof.cleanup.registry import registry
from storeproof.disk.methods import WITHOUT_DISK
from storeproof.errors import NotAvailable
from storeproof.experiments.durability.atomic_groups import atomic_ways
from storeproof.experiments.durability.durability_summary import Tally
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.durability.rounds import Rounds
from storeproof.experiments.durability.spoiled import limit, repeat_spoiled
from storeproof.experiments.durability.sync_evidence import look
from storeproof.faults import find
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.spec import LADDER, NODES
from storeproof.spec.guarantee import GuaranteeName, NodeGuaranteeName
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.{name}", guarantee=name)) for name in (*LADDER[1:], *NODES)],
)
def test_guarantee(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName | NodeGuaranteeName) -> None:
    """The guarantee's fault strikes a store under load, many times; what was acknowledged is there afterwards."""
    claimed = sut.target.configuration.promises(guarantee)
    again = f"seed {sut.seed}; reproduce: {sut.command(f'test_guarantee and {guarantee}')}"
    tally, findings = Tally(), list[str]()
    outcome, detail = Outcome.ERROR, "the rounds were not finished"
    try:
        _strike(sut, guarantee, tally)
        outcome = tally.outcome(claimed=claimed)
        detail, findings = tally.detail(again), tally.findings(claimed=claimed)
    except Exception as reason:
        judged = judge(reason, claimed=claimed)
        outcome, detail = judged.outcome, f"{judged.detail}; {again}"
        raise
    finally:
        if registry.interrupt is not None:  # also where a clean-up's own failure took the interrupt's place
            outcome, detail = Outcome.INCONCLUSIVE, "interrupted between the rounds"
        sut.record.guarantees.append(tally.record(guarantee, case_result.known(outcome, findings or [detail]), detail))
    case_result.spoiled += tally.spoiled
    if outcome is Outcome.PASS:
        case_result.add(detail)
    else:
        case_result.settle(outcome, detail, findings)


def _strike(sut: StoreUnderTest, guarantee: str, tally: Tally) -> None:
    """All rounds, added to the tally, on a store of their own; on another one where the machine spoiled a round."""
    wanted = sut.spec.guarantees[guarantee]
    assert wanted.fault is not None, f"{guarantee} names no fault, so that nothing tests it"
    fault = find(wanted.fault)
    if guarantee in NODES and sut.target.store.topology == "single":  # known before a store is started for it
        raise NotAvailable(f"{sut.target.store.name} runs as a single server: it has no nodes that could be killed one by one")
    if fault.cuts_off and sut.options.power_cut == WITHOUT_DISK:
        raise look(sut, guarantee)

    def go_on() -> None:
        with closing(sut.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)) as handle:
            if reason := fault.cannot(handle):
                raise NotAvailable(reason)
            Rounds(
                handle,
                fault,
                layouts_of(sut, handle),
                sut.scale.durability,
                connect=sut.connect,
                rng=random.Random(f"{sut.seed} {sut.target.id} {guarantee} {len(tally.spoiled)}"),
                load=wanted.load,
                second_fault=wanted.second_fault,
                ways=atomic_ways(sut.target),
                progress=lambda text: sut.progress(f"durability.{guarantee} · {text}"),
                tally=tally,
            ).run()

    tally.given_up = not repeat_spoiled(go_on, tally.spoiled, limit(sut.scale.durability.rounds))
