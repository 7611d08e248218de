"""A claim is held against the transactions of its levels: true ones are accepted, and each forgery is refused for its own reason."""

from __future__ import annotations

import io
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Final

import pytest

from storeproof.conformance.histories.isolation import JudgedIsolation
from storeproof.conformance.reasons import ClaimRefused
from storeproof.evidence import EvidenceDamaged, StoreEvidence, TransactionsEvidence, evidence_file, member_of, read_evidence
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.history import Access, RequestOutcome, Transaction
from storeproof.outcome import Outcome
from storeproof.result.measured.isolation import IsolationCounts
from storeproof.spec import Target
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import Guarantees
from tests.conformance.published import published
from tests.shipped import SHIPPED

KNOWN: Any = SimpleNamespace(spec=SHIPPED, scale=lambda _: SHIPPED.scales["smoke"], disputed=frozenset())
STORE, FILE = SHIPPED.store("postgresql")
TARGET = Target(STORE, STORE.default_variant, FILE, {})
CLUSTER = Target(STORE, "standbys-local", FILE, {})
LEVEL: Final[Isolation] = "serializable"
MIX: Final = "read-modify-write"
CASE: Final = isolation_case(LEVEL, MIX)
_CLIENTS: Final = 4
_NUMBER: Final = 300


@dataclass
class Claim:
    """What a bundle says of one mix at one level."""

    attempts: list[StoreEvidence]
    counts: IsolationCounts | None
    outcome: Outcome
    spoiled: int = 0

    @property
    def kept(self) -> TransactionsEvidence:
        """Of the last attempt."""
        kept = self.attempts[-1].transactions
        assert kept is not None
        return kept


def sent(*, loses: int = -1) -> list[Transaction]:
    """Transactions that overlap, and of which each replaces what the one before has written; one in ten is rolled back.

    `loses`: the number of one that does not see what the one before it has done.
    """
    last: list[str | None] = [None]
    written = dict.fromkeys(range(_CLIENTS), 0)
    found = []
    for number in range(_NUMBER):
        client, began = number % _CLIENTS, 10 * number
        outcome: RequestOutcome = "refused" if number % 10 == 5 else "ok"
        written[client] += 1
        new = f"{client}:{written[client]}"
        seen = last[-2] if number == loses else last[-1]
        accesses = (Access("read", "k0", seen), Access("write", "k0", new), Access("read", "k1", None))
        found.append(Transaction(client, began, began + 25, outcome, accesses))
        last += [new] * (outcome == "ok")
    return found


def of_cluster(mix: str, guarantees: Guarantees, *nodes: str) -> str:
    """Why a bundle is refused whose clients were at these nodes; empty where it is not."""
    level: Isolation = "repeatable_read"
    case, seed = isolation_case(level, mix), f"{published().run.seed} {CLUSTER.id} isolation {level} {mix} 0"
    kept = TransactionsEvidence(level, mix, sent(), nodes=[*nodes])
    summary = IsolationSummary(level=level, mix=mix, guarantees=guarantees)
    summary.judge(kept)
    attempt = StoreEvidence(case, seed, CLUSTER.id, cuts_off=False, transactions=kept)
    return refused(Claim([attempt], summary.counts(), Outcome.PASS), case, CLUSTER)


def across_nodes(*nodes: str) -> str:
    """The same of reads at several nodes."""
    return of_cluster("across-nodes", "parallel_snapshot_isolation", *nodes)


def evidence(transactions: list[Transaction], attempt: int = 0) -> StoreEvidence:
    seed = f"{published().run.seed} {TARGET.id} isolation {LEVEL} {MIX} {attempt}"
    return StoreEvidence(CASE, seed, TARGET.id, cuts_off=False, transactions=TransactionsEvidence(LEVEL, MIX, transactions))


def made(transactions: list[Transaction]) -> Claim:
    """As a run comes to it."""
    kept = evidence(transactions)
    summary = IsolationSummary(level=LEVEL, mix=MIX, guarantees=TARGET.isolation[LEVEL].guarantees)
    assert kept.transactions is not None
    summary.judge(kept.transactions)
    return Claim([kept], summary.counts(), summary.outcome(claimed=True))


def refused(claim: Claim, case: str = CASE, target: Target = TARGET) -> str:
    """Why a bundle with it is refused; empty where it is not. The evidence is written and read as in one."""
    result = published()
    content = evidence_file(result.run.id, map(member_of, claim.attempts))
    update = {"id": case, "outcome": claim.outcome, "spoiled": claim.spoiled, "isolation": claim.counts}
    record = result.stores[0].outcomes[0].model_copy(update=update)
    judged = JudgedIsolation(result.run, result.stores[0].model_copy(update={"outcomes": [record]}), target, KNOWN)
    try:
        taken = [judged.take(each) for each in read_evidence(io.BytesIO(content), result.run.id)]
        judged.check()
    except (ClaimRefused, EvidenceDamaged) as reason:
        return str(reason)
    assert taken == [True] * len(claim.attempts)
    return ""


def test_true_claims_are_accepted() -> None:
    """Of a store that is serializable, of one that loses an update, and of one whose first attempt says nothing."""
    true, losing = made(sent()), made(sent(loses=150))
    assert (true.outcome, refused(true)) == (Outcome.PASS, "")
    assert (losing.outcome, refused(losing)) == (Outcome.FAIL, "")
    assert losing.counts is not None
    assert [each.kind for each in losing.counts.anomalies] == ["lost-update"]
    assert losing.counts.anomalies[0].story[0] == "T1 (client 1) and T2 (client 2) both found version 0:38 of k0."
    again = Claim([evidence(sent()[:20]), evidence(sent(), 1)], true.counts, Outcome.PASS, spoiled=1)
    assert refused(again) == ""


def test_an_attempt_that_ended_in_the_middle_refuses_no_claim() -> None:
    """It shows a read of a transaction that was under way and is not in it; and nothing follows from it where it is the last one."""
    true, cut = made(sent()), sent()[:20]
    del cut[18]
    assert refused(Claim([evidence(cut), evidence(sent(), 1)], true.counts, Outcome.PASS, spoiled=1)) == ""
    assert refused(Claim([evidence(cut)], None, Outcome.INCONCLUSIVE)) == ""


def test_reads_of_all_nodes_are_judged_by_what_is_claimed_across_them() -> None:
    """They were at all nodes of the topology, and at no other."""
    assert across_nodes("n1", "n2", "n3", "n1") == ""
    assert "were sent to the nodes n1, n2" in across_nodes("n1", "n2")
    assert "were sent to the nodes n1, n2, n4" in across_nodes("n1", "n2", "n4")
    assert "were sent to the nodes" in across_nodes()


def test_the_control_is_judged_by_what_is_claimed_of_the_level() -> None:
    """It was at one node of the topology, and at no other."""
    control: Final = ("at-the-primary", "snapshot_isolation")
    assert of_cluster(*control, *["n2"] * _CLIENTS) == ""
    for nodes in (["n1", "n2", "n3", "n1"], ["n4"] * _CLIENTS, []):
        assert "were sent to the nodes" in of_cluster(*control, *nodes)
    assert "guarantees is parallel_snapshot_isolation" in of_cluster(control[0], "parallel_snapshot_isolation", *["n1"] * _CLIENTS)


def of_nodes(claim: Claim) -> None:
    """Of a single server."""
    claim.kept.nodes = ["n1", "n2", "n3", "n1"]


def changed(number: int, **changes: Any) -> Callable[[Claim], None]:
    """One transaction is another one."""

    def change(claim: Claim) -> None:
        claim.kept.sent[number] = replace(claim.kept.sent[number], **changes)

    return change


def without_reads(claim: Claim) -> None:
    """The read that shows the loss."""
    lost = claim.kept.sent[150]
    claim.kept.sent[150] = replace(lost, accesses=lost.accesses[1:])


def left_out(claim: Claim) -> None:
    del claim.kept.sent[150]


def merged(claim: Claim) -> None:
    """With those of another client, which has numbered its writes too."""
    others = [replace(each, client=each.client + _CLIENTS) for each in sent()]
    claim.kept.sent = sorted([*claim.kept.sent, *others], key=lambda each: each.invoked)


def merged_with_itself(claim: Claim) -> None:
    claim.kept.sent = [each for each in claim.kept.sent for _ in range(2)]


def one_after_another(claim: Claim) -> None:
    """None of them overlaps another one any more."""
    claim.kept.sent = [replace(each, completed=each.invoked + 5) for each in claim.kept.sent]


def at_the_same_time(claim: Claim) -> None:
    claim.kept.sent = [replace(each, completed=each.invoked + 45) for each in claim.kept.sent]


def of_none(claim: Claim) -> None:
    """A version that no client wrote."""
    each = claim.kept.sent[150]
    claim.kept.sent[150] = replace(each, accesses=(Access("read", "k0", "3:9999"), *each.accesses[1:]))


def another_level(claim: Claim) -> None:
    claim.kept.level = "repeatable_read"


def another_seed(claim: Claim) -> None:
    claim.attempts = [replace(claim.attempts[0], seed=f"{published().run.seed + 1} {TARGET.id} isolation {LEVEL} {MIX} 0")]


def an_attempt_more(claim: Claim) -> None:
    """The first one failed, and the second is shown as the only one."""
    claim.attempts = [evidence(sent(loses=150)), evidence(sent(), 1)]


def no_attempt(claim: Claim) -> None:
    claim.attempts = []


def uncounted(claim: Claim) -> None:
    claim.counts = None


def without_anomalies(claim: Claim) -> None:
    assert claim.counts is not None
    claim.counts = claim.counts.model_copy(update={"anomalies": []})


def weaker(claim: Claim) -> None:
    """The level guarantees less than the store's file says."""
    assert claim.counts is not None
    claim.counts = claim.counts.model_copy(update={"guarantees": "read_committed"})


def a_pass(claim: Claim) -> None:
    claim.outcome = Outcome.PASS


FORGERIES: Final[dict[str, tuple[int, Callable[[Claim], None], str]]] = {
    "a transaction left out": (-1, left_out, "is where write 38 of client 2 should be"),
    "a commit turned into a rollback": (-1, changed(150, outcome="refused"), "committed is 270 in the result, and 269 by its transactions"),
    "a rollback turned into a commit": (-1, changed(155, outcome="ok"), "committed is 270 in the result, and 271 by its transactions"),
    "a reply lost": (-1, changed(150, outcome="unknown", completed=None), "committed is 270 in the result"),
    "an edge removed": (150, without_reads, "anomalies is"),
    "two histories merged": (-1, merged, "should be"),
    "a history merged with itself": (-1, merged_with_itself, "should be"),
    "times moved apart": (-1, one_after_another, "contended is 270 in the result, and 0 by its transactions"),
    "times moved together": (-1, at_the_same_time, "two transactions at a time"),
    "a version of no client": (-1, of_none, "no transaction wrote 3:9999 of k0"),
    "a write of another client": (-1, changed(150, client=3), "should be"),
    "nodes of a single server": (-1, of_nodes, "were sent to the nodes n1, n2, n3, n1"),
    "another level": (-1, another_level, "are none of its level and mix"),
    "another seed": (-1, another_seed, "seed: "),
    "an attempt more": (-1, an_attempt_more, "has 2 attempts in the evidence, and 0 that were spoiled"),
    "no attempt": (-1, no_attempt, "has 0 attempts in the evidence"),
    "nothing counted": (-1, uncounted, "is pass in the result, which counts no transactions"),
    "an anomaly forgotten": (150, without_anomalies, "anomalies is [] in the result"),
    "a weaker level": (150, weaker, "guarantees is read_committed in the result, and serializable by its transactions"),
    "a failure that passes": (150, a_pass, "is pass in the result, and fail by its isolation"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(name: str) -> None:
    """For what it changes. What is forged in the evidence and the result alike is no longer a forgery that anyone could see."""
    loses, forge, reason = FORGERIES[name]
    claim = deepcopy(made(sent(loses=loses)))
    forge(claim)
    assert reason in refused(claim)
