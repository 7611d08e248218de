"""Several clients on the same few keys: every answer is one that a single copy, touched by one client at a time, could have given."""

from __future__ import annotations

import random

import pytest

from storeproof.check import MOST_CLIENTS
from storeproof.contract import OPERATIONS, Session, Unsupported, why_not
from storeproof.experiments.contended_keys import KINDS, SHARE, Client, Hot, Kind, able, histories, work_together
from storeproof.experiments.linearizability import Linearity
from storeproof.native_support import require
from storeproof.outcome import Outcome
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest

_KEYS = 3


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind.name, marks=pytest.mark.case(id=f"linearizable.{kind.name}")) for kind in KINDS]
)
def test_one_order_explains_all_answers(kind: Kind, sut: StoreUnderTest, session: Session, case_result: CaseResult) -> None:
    require("a check of linearizability")
    case_result.claimed = kind.model in sut.target.store.claims.models
    if not case_result.claimed:
        case_result.settle(Outcome.UNSUPPORTED, f"the store does not claim the model {kind.model}")
    layout = sut.layout(kind.model)
    try:
        missing = able(session, layout, kind)
    except Unsupported as reason:
        case_result.settle(Outcome.UNSUPPORTED, f"{kind.model}: {reason}")
    if missing:
        family = OPERATIONS[missing].family.__name__
        case_result.settle(Outcome.UNSUPPORTED, f"{missing} on {kind.model}: {why_not(session.collection(layout), family)}")
    collection = session.collection(layout)
    collection.prepare()
    judged = Linearity(f"linearizable.{kind.name}")
    try:
        keys = [Hot(kind, layout, f"hot{number}") for number in range(_KEYS)]
        judged.judge(histories(_together(sut, keys)))
    finally:
        collection.clear()
    if judged.undecided:
        case_result.settle(Outcome.INCONCLUSIVE, "; ".join(judged.undecided))
    # Which operations it speaks for: only an answer says anything of them.
    case_result.about(kind.model, kind.operations)
    sut.record.histories.extend(judged.shown)
    assert not judged.wrong, "\n".join([f"{judged.words}; not linearizable:", *judged.listed(judged.wrong)])
    case_result.add(f"{judged.words}, each key linearizable")


def _together(sut: StoreUnderTest, keys: list[Hot]) -> list[Client]:
    """As many clients as the check takes, each with a session of its own; they begin when all are connected."""
    share = min(SHARE, sut.scale.correctness.concurrent_operations)
    clients: list[Client] = []
    try:
        while len(clients) < min(MOST_CLIENTS, sut.scale.correctness.clients):
            rng = random.Random(f"{sut.seed} {keys[0].kind.name} {len(clients)}")
            clients.append(Client(sut.connect(sut.shared()), len(clients), keys, share, rng))
    except BaseException:
        for client in clients:
            client.close()
        raise
    work_together(clients)
    return clients
