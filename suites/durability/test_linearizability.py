"""Linearizability across faults: the answers before and after one are those of a single copy that never failed."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Final

import pytest

from storeproof.blame import Ending, outcome_of
from storeproof.compiled import require
from storeproof.contract import Layout, Refused, Unsupported
from storeproof.errors import NotAvailable, StoreDied
from storeproof.faults import find
from storeproof.launch.disk import WITHOUT_DISK
from storeproof.launch.handle import Handle
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.spec.guarantee import GuaranteeName
from storeproof.suites.durability.crossing import Crossing
from storeproof.suites.durability.spoiled import limit, repeat_spoiled
from storeproof.suites.hot_keys import KINDS, Kind, able
from storeproof.suites.linearity import Linearity
from storeproof.trial import Trial

_GUARANTEES: Final[tuple[GuaranteeName, ...]] = ("process_crash", "power_loss")


@pytest.mark.parametrize(
    "guarantee",
    [pytest.param(name, id=name, marks=pytest.mark.case(id=f"durability.linearizable/{name}", guarantee=name)) for name in _GUARANTEES],
)
def test_one_order_explains_answers_across_faults(trial: Trial, verdict: Verdict, guarantee: GuaranteeName) -> None:
    """Also those after the fault; a write without a reply may have happened or not, but not first the one and then the other."""
    require("a check of linearizability")
    claimed = trial.target.variant.promises(guarantee)
    again = f"seed {trial.seed}; reproduce: {trial.command(f'across_faults and {guarantee}')}"
    judged = Linearity(f"durability.linearizable/{guarantee}")
    bad = outcome_of(Ending.BROKEN_PROMISE, claimed=claimed)
    try:
        whole = _strike(trial, guarantee, judged, verdict.spoiled)
    except (StoreDied, Refused) as reason:
        verdict.end(reason, [again])
    finally:
        trial.record.histories.extend(judged.shown)
    detail = f"{trial.scale.durability.rounds} faults; {judged.words}"
    if judged.wrong:
        verdict.settle(bad, "\n".join([f"{detail}; not linearizable; {again}", *judged.listed(judged.wrong)]), judged.wrong)
    if judged.fleeting:
        said = "a client read what the fault undid, before anybody had been told that it was done"
        lasting = trial.target.lasting_reads
        bad = bad if lasting else Outcome.UNSUPPORTED
        claim = "claimed that it cannot be" if lasting else "the store does not claim that it cannot be"
        verdict.settle(bad, "\n".join([f"{detail}; {said}; {claim}; {again}", *judged.listed(judged.fleeting)]), judged.fleeting)
    if not whole:
        verdict.settle(Outcome.INCONCLUSIVE, f"{len(verdict.spoiled)} rounds were spoiled; {again}")
    if judged.undecided:
        verdict.settle(Outcome.INCONCLUSIVE, "; ".join([*judged.listed(judged.undecided), again]))
    if not judged.operations:
        verdict.settle(Outcome.INCONCLUSIVE, f"nothing was acknowledged before the faults; {again}")
    if not claimed:
        verdict.settle(Outcome.UNDECLARED, f"{detail}; each key linearizable; {again}")
    verdict.add(f"{detail}; each key linearizable; {again}")


def _strike(trial: Trial, guarantee: str, judged: Linearity, spoiled: list[str]) -> bool:
    """All rounds on a store of their own; on another one where the machine spoiled a round, which is noted. False where too many were."""
    name = trial.spec.guarantees[guarantee].fault
    assert name is not None
    fault = find(name)
    if fault.cuts_off and trial.options.power_cut == WITHOUT_DISK:
        raise NotAvailable("strace looks at syncs and cuts nothing, so that no client meets a cut", "--power-cut=ext4 or fuse")
    done = 0

    def go_on() -> None:
        nonlocal done
        with closing(trial.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)) as handle:
            if reason := fault.cannot(handle):
                raise NotAvailable(reason)
            crossing = Crossing(
                handle,
                fault,
                _kinds(trial, handle),
                trial.scale.durability,
                connect=trial.connect,
                rng=random.Random(f"{trial.seed} {trial.target.id} linearizable {guarantee} {len(spoiled)}"),
                judged=judged,
                done=done,
                progress=lambda text: trial.progress(f"durability.linearizable/{guarantee} · {text}"),
            )
            try:
                crossing.run()
            finally:
                done = crossing.done

    return repeat_spoiled(go_on, spoiled, limit(trial.scale.durability.rounds))


def _kinds(trial: Trial, handle: Handle) -> dict[Kind, Layout]:
    """What is done, as far as the store claims the model and has the operations."""
    session = trial.connect(handle)
    found: dict[Kind, Layout] = {}
    try:
        for kind in KINDS:
            if kind.model not in trial.target.store.claims.models:
                continue
            layout = trial.layout(kind.model)
            try:
                if able(session, layout, kind) is None:
                    found[kind] = layout
            except Unsupported:
                continue  # claimed and refused: correctness fails on it
    finally:
        session.close()
    if not found:
        raise NotAvailable(f"{trial.target.id} claims no model with operations that are tried: {', '.join(kind.name for kind in KINDS)}")
    return found
