"""Several clients on the same few keys: every answer is one that a single copy, touched by one client at a time, could have given."""

from __future__ import annotations

import random

import pytest

from storeproof.check import MOST_CLIENTS
from storeproof.compiled import require
from storeproof.contract import OPERATIONS, Session, Unsupported, why_not
from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Verdict
from storeproof.suites.hot_keys import KINDS, SHARE, Client, Hot, Kind, able, histories, work_together
from storeproof.suites.linearity import Linearity
from storeproof.trial import Trial

_KEYS = 3


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind.name, marks=pytest.mark.case(id=f"linearizable.{kind.name}")) for kind in KINDS]
)
def test_one_order_explains_all_answers(kind: Kind, trial: Trial, session: Session, verdict: Verdict) -> None:
    require("a check of linearizability")
    verdict.claimed = kind.model in trial.target.store.claims.models
    if not verdict.claimed:
        verdict.settle(Outcome.UNSUPPORTED, f"the store does not claim the model {kind.model}")
    layout = trial.layout(kind.model)
    try:
        missing = able(session, layout, kind)
    except Unsupported as reason:
        verdict.settle(Outcome.UNSUPPORTED, f"{kind.model}: {reason}")
    if missing:
        family = OPERATIONS[missing].family.__name__
        verdict.settle(Outcome.UNSUPPORTED, f"{missing} on {kind.model}: {why_not(session.collection(layout), family)}")
    collection = session.collection(layout)
    collection.prepare()
    judged = Linearity(f"linearizable.{kind.name}")
    try:
        keys = [Hot(kind, layout, f"hot{number}") for number in range(_KEYS)]
        judged.judge(histories(_together(trial, keys)))
    finally:
        collection.clear()
    if judged.undecided:
        verdict.settle(Outcome.INCONCLUSIVE, "; ".join(judged.undecided))
    # Which operations it speaks for: only an answer says anything of them.
    verdict.about(kind.model, kind.operations)
    trial.record.histories.extend(judged.shown)
    assert not judged.wrong, "\n".join([f"{judged.words}; not linearizable:", *judged.listed(judged.wrong)])
    verdict.add(f"{judged.words}, each key linearizable")


def _together(trial: Trial, keys: list[Hot]) -> list[Client]:
    """As many clients as the check takes, each with a session of its own; they begin when all are connected."""
    share = min(SHARE, trial.scale.correctness.concurrent_operations)
    clients: list[Client] = []
    try:
        while len(clients) < min(MOST_CLIENTS, trial.scale.correctness.clients):
            rng = random.Random(f"{trial.seed} {keys[0].kind.name} {len(clients)}")
            clients.append(Client(trial.connect(trial.shared()), len(clients), keys, share, rng))
    except BaseException:
        for client in clients:
            client.close()
        raise
    work_together(clients)
    return clients
