"""Several clients on the same few keys: all answers together could come from a single copy that is used by one client at a time."""

from __future__ import annotations

import random

import pytest

from storeproof.check import MOST_CLIENTS
from storeproof.contract import OPERATIONS, Session, Unsupported, why_not
from storeproof.experiments.client import Client, open_clients
from storeproof.experiments.contended_keys import KEY_TYPES, SHARE, ContendedKey, ContendedKeys, KeyType, work_together
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.history import Recorder
from storeproof.native_support import require
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest

_KEYS = 3


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind.name, marks=pytest.mark.case(id=f"linearizable.{kind.name}")) for kind in KEY_TYPES]
)
def test_one_order_explains_all_answers(kind: KeyType, sut: StoreUnderTest, session: Session, case_result: CaseResult) -> None:
    """Clients read and write the same keys concurrently; if no order explains a history, the smallest wrong part is reported."""
    require("a check of linearizability")
    case_result.claimed = kind.model in sut.target.store.claims.models
    if not case_result.claimed:
        case_result.settle(Outcome.UNSUPPORTED, f"the store does not claim the model {kind.model}")
    layout = sut.layout(kind.model)
    try:
        missing = kind.missing(session, layout)
    except Unsupported as reason:
        case_result.settle(Outcome.UNSUPPORTED, f"{kind.model}: {reason}")
    if missing:
        family = OPERATIONS[missing].family.__name__
        case_result.settle(Outcome.UNSUPPORTED, f"{missing} on {kind.model}: {why_not(session.collection(layout), family)}")
    collection = session.collection(layout)
    collection.prepare()
    summary = LinearizabilitySummary(case=f"linearizable.{kind.name}")
    try:
        keys = [ContendedKey(kind, layout, f"hot{number}") for number in range(_KEYS)]
        summary.check(_use(sut, keys).operations())
    finally:
        collection.clear()
    if summary.undecided:
        case_result.settle(Outcome.INCONCLUSIVE, "; ".join(summary.undecided))
    wrong = "\n".join([f"{summary.judged}; not linearizable:", *summary.list_some(summary.wrong)])
    if summary.wrong and sut.target.stale_reads:
        case_result.settle(Outcome.UNSUPPORTED, f"stale reads are declared as possible: {wrong}")
    # Which operations it speaks for: only an answer says anything of them.
    case_result.about(kind.model, kind.weights)
    sut.record.histories.extend(summary.shown)
    if summary.wrong:
        case_result.settle(Outcome.FAIL, wrong, summary.findings)
    case_result.add(f"{summary.judged}; every key is linearizable")


def _use(sut: StoreUnderTest, keys: list[ContendedKey]) -> Recorder:
    """As many clients as the check takes, each with a session of its own; they begin when all are connected."""
    share = min(SHARE, sut.scale.correctness.concurrent_operations)
    recorder = Recorder()

    def connect() -> Client:
        log = recorder.client()
        rng = random.Random(f"{sut.seed} {keys[0].type.name} {log.client}")
        return Client(lambda: sut.connect(sut.shared()), ContendedKeys(log, keys, share, rng))

    work_together(open_clients(min(MOST_CLIENTS, sut.scale.correctness.clients), connect))
    return recorder
