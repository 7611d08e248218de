"""Linearizability across faults: the answers before and after one are those of a single copy that never failed."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Final

import pytest

from storeproof.blame import Ending, outcome_of
from storeproof.contract import Layout, Refused, Unsupported
from storeproof.disk.methods import WITHOUT_DISK
from storeproof.errors import NotAvailable, StoreDied
from storeproof.experiments.contended_keys import KINDS, Kind, able
from storeproof.experiments.durability.fault_linearizability import Crossing
from storeproof.experiments.durability.spoiled import limit, repeat_spoiled
from storeproof.experiments.linearizability import Linearity
from storeproof.faults import find
from storeproof.launch.handle import Handle
from storeproof.native_support import require
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.spec.guarantee import GuaranteeName
from storeproof.store_under_test import StoreUnderTest

_GUARANTEES: Final[tuple[GuaranteeName, ...]] = ("process_crash", "power_loss")


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.linearizable/{name}", guarantee=name)) for name in _GUARANTEES],
)
def test_one_order_explains_answers_across_faults(sut: StoreUnderTest, case_result: CaseResult, guarantee: GuaranteeName) -> None:
    """Also those after the fault; a write without a reply may have happened or not, but not first the one and then the other."""
    require("a check of linearizability")
    claimed = sut.target.configuration.promises(guarantee)
    again = f"seed {sut.seed}; reproduce: {sut.command(f'across_faults and {guarantee}')}"
    judged = Linearity(f"durability.linearizable/{guarantee}")
    bad = outcome_of(Ending.BROKEN_PROMISE, claimed=claimed)
    try:
        whole = _strike(sut, guarantee, judged, case_result.spoiled)
    except (StoreDied, Refused) as reason:
        case_result.end(reason, [again])
    finally:
        sut.record.histories.extend(judged.shown)
    detail = f"{sut.scale.durability.rounds} faults; {judged.words}"
    if judged.wrong:
        case_result.settle(bad, "\n".join([f"{detail}; not linearizable; {again}", *judged.listed(judged.wrong)]), judged.wrong)
    if judged.fleeting:
        said = "a client read what the fault undid, before anybody had been told that it was done"
        lasting = sut.target.durable_reads
        bad = bad if lasting else Outcome.UNSUPPORTED
        claim = "claimed that it cannot be" if lasting else "the store does not claim that it cannot be"
        case_result.settle(bad, "\n".join([f"{detail}; {said}; {claim}; {again}", *judged.listed(judged.fleeting)]), judged.fleeting)
    if not whole:
        case_result.settle(Outcome.INCONCLUSIVE, f"{len(case_result.spoiled)} rounds were spoiled; {again}")
    if judged.undecided:
        case_result.settle(Outcome.INCONCLUSIVE, "; ".join([*judged.listed(judged.undecided), again]))
    if not judged.operations:
        case_result.settle(Outcome.INCONCLUSIVE, f"nothing was acknowledged before the faults; {again}")
    if not claimed:
        case_result.settle(Outcome.UNDECLARED, f"{detail}; each key linearizable; {again}")
    case_result.add(f"{detail}; each key linearizable; {again}")


def _strike(sut: StoreUnderTest, guarantee: str, judged: Linearity, spoiled: list[str]) -> bool:
    """All rounds on a store of their own; on another one where the machine spoiled a round, which is noted. False where too many were."""
    name = sut.spec.guarantees[guarantee].fault
    assert name is not None
    fault = find(name)
    if fault.cuts_off and sut.options.power_cut == WITHOUT_DISK:
        raise NotAvailable("strace looks at syncs and cuts nothing, so that no client meets a cut", "--power-cut=ext4 or fuse")
    done = 0

    def go_on() -> None:
        nonlocal done
        with closing(sut.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)) as handle:
            if reason := fault.cannot(handle):
                raise NotAvailable(reason)
            crossing = Crossing(
                handle,
                fault,
                _kinds(sut, handle),
                sut.scale.durability,
                connect=sut.connect,
                rng=random.Random(f"{sut.seed} {sut.target.id} linearizable {guarantee} {len(spoiled)}"),
                judged=judged,
                done=done,
                progress=lambda text: sut.progress(f"durability.linearizable/{guarantee} · {text}"),
            )
            try:
                crossing.run()
            finally:
                done = crossing.done

    return repeat_spoiled(go_on, spoiled, limit(sut.scale.durability.rounds))


def _kinds(sut: StoreUnderTest, handle: Handle) -> dict[Kind, Layout]:
    """What is done, as far as the store claims the model and has the operations."""
    session = sut.connect(handle)
    found: dict[Kind, Layout] = {}
    try:
        for kind in KINDS:
            if kind.model not in sut.target.store.claims.models:
                continue
            layout = sut.layout(kind.model)
            try:
                if able(session, layout, kind) is None:
                    found[kind] = layout
            except Unsupported:
                continue  # claimed and refused: correctness fails on it
    finally:
        session.close()
    if not found:
        raise NotAvailable(f"{sut.target.id} claims no model with operations that are tried: {', '.join(kind.name for kind in KINDS)}")
    return found
