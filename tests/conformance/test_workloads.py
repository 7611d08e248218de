"""A claim is held against the histories of transfers, sessions and contended keys: a forgery is refused by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

import pytest

from storeproof.check import Books
from storeproof.conformance.histories import durability
from storeproof.conformance.histories.durability import JudgedAgain, check_durability
from storeproof.conformance.reasons import ClaimRefused
from storeproof.contract import Layout
from storeproof.evidence import EVIDENCE, Broken, StoreEvidence, TransferEvidence, evidence_file, member_of
from storeproof.experiments.contended_keys import COUNTER, REGISTER
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.workloads.contended_cluster import ContendedCluster
from storeproof.experiments.durability.workloads.contended_server import ContendedServer
from storeproof.experiments.durability.workloads.isolation_rounds import MIX
from storeproof.experiments.durability.workloads.kinds import KINDS
from storeproof.experiments.durability.workloads.sessions import Sessions
from storeproof.experiments.durability.workloads.struck_transactions import StruckTransactions
from storeproof.experiments.durability.workloads.transfers import Transfers
from storeproof.experiments.rounds_summary import WorkloadSummary
from storeproof.faults import find
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.history import ABSENT, Operation, Transfer, by_place
from storeproof.outcome import Outcome
from storeproof.result.measured.cluster_round import case_rounds
from storeproof.spec import Target
from storeproof.spec.guarantee import Guarantee
from storeproof.spec.scale import DurabilityScale
from tests.conformance.isolation.forged_transactions import (
    another_level,
    drop_the_transactions,
    forget_a_transaction,
    lose_a_commits_reply,
    move_a_transaction,
    read_back_older,
)
from tests.conformance.published import published
from tests.experiments import judged_again
from tests.experiments.durability.isolated import Isolated
from tests.experiments.durability.memory import Handle, Session, Store
from tests.experiments.durability.memory import subject as on_server
from tests.experiments.durability.memory_cluster import Promoted
from tests.experiments.durability.memory_cluster import subject as on_cluster
from tests.experiments.durability.servers.struck_server import Atomic
from tests.experiments.durability.test_cluster_linearizability import Fenced as ReadsOfAll
from tests.experiments.durability.test_cluster_sessions import Fenced as ReadsOfPrimaries
from tests.experiments.durability.test_cluster_transfers import Atomic as AtomicEverywhere
from tests.shipped import SHIPPED

SCALE = DurabilityScale.model_construct(rounds=2, further_rounds=2, clients=4, load_seconds=(0.01, 0.03))
CRASH, SPLIT = "process_crash", "partition"
GUARANTEES = {
    CRASH: SHIPPED.guarantees[CRASH],
    SPLIT: Guarantee(format="1.1", guarantee="partition", title="", promise="", fault=IsolatePrimary().name, load=("stream",)),
}
STORE, FILE = SHIPPED.store("postgresql")
TARGETS = {CRASH: Target(STORE, "synchronous-commit-on", FILE, {}), SPLIT: Target(STORE, "standbys-on", FILE, {})}
LAYOUTS = {name: Layout(f"c_{name}", SHIPPED.models[name]) for name in ("single_key", "counter")}
KNOWN: Any = SimpleNamespace(
    spec=SimpleNamespace(guarantees=GUARANTEES), scale=lambda _: SimpleNamespace(durability=SCALE), disputed=frozenset()
)
JUDGE: Any = SimpleNamespace(reach=True, parts=True, workloads=True)

KEYS = {REGISTER: LAYOUTS["single_key"], COUNTER: LAYOUTS["counter"]}
EACH = [(kind, guarantee) for guarantee in TARGETS for kind in KINDS]

True_ = tuple[StoreEvidence, WorkloadSummary]
Forge = Callable[[StoreEvidence], object]


def struck(kind: str, guarantee: str = CRASH) -> True_:
    """Two rounds of an honest store, and what the run makes of them."""
    target = TARGETS[guarantee]
    summary: Any = KINDS[kind].of(target, guarantee)
    if guarantee == SPLIT:
        cluster = Promoted(synchronous=True)
        sessions: dict[str, type[Session]] = {
            "transfers": AtomicEverywhere, "sessions": ReadsOfPrimaries, "linearizable": ReadsOfAll, "isolation": Isolated,
        }  # fmt: skip
        session = sessions[kind]
        where = on_cluster(cluster, session=session)
        strike: Any = lambda: ClusterStrike(where, IsolatePrimary(), lambda at: session(cluster.stores[at.host]))  # noqa: E731
    else:
        of_server: dict[str, type[Session]] = {"transfers": Atomic, "isolation": Isolated}
        where = on_server(Handle(Store()), of_server.get(kind, Session))
        strike = lambda: ServerStrike(where, find("process_kill"))  # noqa: E731
    workloads: Any = {
        "transfers": lambda: Transfers(where, LAYOUTS, SCALE, summary),
        "sessions": lambda: Sessions(where, LAYOUTS["single_key"], SCALE, summary),
        "isolation": lambda: StruckTransactions(where, LAYOUTS["single_key"], SHIPPED.mixes[MIX], 16, summary),
        "linearizable": lambda: (ContendedServer if guarantee == CRASH else ContendedCluster)(where, KEYS, SCALE, summary),
    }
    evidence = judged_again.run(StrikeRounds(where, [strike] * 2, workloads[kind]()), f"durability.{kind}/{guarantee}")
    return replace(evidence, target=target.id, seed=f"{published().run.seed} {target.id} {kind} {guarantee} 0"), summary


@pytest.fixture(scope="module")
def true() -> dict[tuple[str, str], True_]:
    """Of each kind on a server and on a cluster."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
            patch.setattr(cluster_strike, name, 0.3)
        return {each: struck(*each) for each in EACH}


def judged(found: True_, *parts: StoreEvidence, says: Outcome = Outcome.PASS, judge: Any = JUDGE) -> JudgedAgain | str:
    """What is judged again of a claim that says what the run found, and has these histories; or why it is refused."""
    evidence, summary = found
    target, result = next(each for each in TARGETS.values() if each.id == evidence.target), published()
    content = evidence_file(result.run.id, map(member_of, parts)) if parts else b""
    case = (
        result.stores[0]
        .outcomes[0]
        .model_copy(update={"id": evidence.case, "outcome": says, "detail": f"{summary.sentence()}; seed 7", "seconds": 3600.0})
    )
    kind: Any = "reads" if "sessions" in evidence.case else "transfers"
    by_node = [case_rounds(evidence.case, kind, summary.cluster_rounds)] if summary.cluster_rounds else []
    sums = result.stores[0].durability.model_copy(update={"guarantees": [], "failovers": by_node})
    claim = result.stores[0].model_copy(
        update={"outcomes": [case], "durability": sums, "store": target.store.name, "variant": target.variant}
    )
    archive: Any = SimpleNamespace(
        places={EVIDENCE: 1} if parts else {}, read=lambda _: content, digest=lambda _: hashlib.sha256(content).hexdigest()
    )
    run = result.run.model_copy(update={"evidence": hashlib.sha256(content).hexdigest() if parts else None})
    try:
        return check_durability(run, claim, target, archive, KNOWN, judge)
    except ClaimRefused as reason:
        return str(reason)


def transfers(evidence: StoreEvidence, number: int = 0) -> TransferEvidence:
    """Those of a round."""
    found = evidence.rounds[number].transfers
    assert found is not None
    return found


def acknowledged(evidence: StoreEvidence, number: int = 0) -> Transfer:
    return next(each for each in transfers(evidence, number).sent if each.outcome == "ok")


def rewrite(evidence: StoreEvidence, *, sent: Sequence[Transfer] | None = None, **books: Any) -> None:
    """Other transfers, or other books, of the first round."""
    kept = transfers(evidence)
    evidence.rounds[0].transfers = replace(
        kept, sent=list(kept.sent if sent is None else sent), books=replace(kept.books, **books) if books else kept.books
    )


def undone(books: Books, each: Transfer) -> dict[str, int]:
    """The balances without a transfer."""
    return {
        name: shown + (each.amount if name == each.source else -each.amount if name == each.target else 0)
        for name, shown in books.balances.items()
    }


def lose_a_transfer(evidence: StoreEvidence) -> None:
    """Whole, after it was acknowledged."""
    gone, books = acknowledged(evidence), transfers(evidence).books
    rewrite(evidence, entries={**books.entries, gone.entry: ABSENT}, balances=undone(books, gone))


def lose_half_of_one(evidence: StoreEvidence) -> None:
    """Its entry is there."""
    books = transfers(evidence).books
    rewrite(evidence, balances=undone(books, acknowledged(evidence)))


def skew_a_snapshot(evidence: StoreEvidence) -> None:
    """It shows half of a transfer."""
    first = transfers(evidence).snapshots[0]
    name = next(iter(first.shown))
    transfers(evidence).snapshots[0] = replace(first, shown={**first.shown, name: first.shown[name] + 1})


def forget_a_transfer(evidence: StoreEvidence) -> None:
    """It was never sent."""
    gone, books = acknowledged(evidence), transfers(evidence).books
    sent = [each for each in transfers(evidence).sent if each is not gone]
    rewrite(
        evidence, sent=sent, entries={key: seen for key, seen in books.entries.items() if key != gone.entry}, balances=undone(books, gone)
    )


def lose_an_answer(evidence: StoreEvidence) -> None:
    """So that nothing is promised of it."""
    first = acknowledged(evidence)
    rewrite(evidence, sent=[each.without_reply() if each is first else each for each in transfers(evidence).sent])


def send_too_soon(evidence: StoreEvidence) -> None:
    """Before the client had the reply to its last one."""
    first = acknowledged(evidence)
    late = replace(first, completed=evidence.rounds[0].load_ended)
    rewrite(evidence, sent=[late if each is first else each for each in transfers(evidence).sent])


def send_after_the_load(evidence: StoreEvidence) -> None:
    """When no client runs."""
    kept = transfers(evidence)
    late = replace(kept.sent[-1], client=99, invoked=evidence.rounds[0].load_ended + 1_000, completed=evidence.rounds[0].load_ended + 9_000)
    rewrite(evidence, sent=[*kept.sent[:-1], replace(late, outcome="ok")])


def drop_the_transfers(evidence: StoreEvidence) -> None:
    """Of a round that counts."""
    evidence.rounds[0].transfers = None


def drop_the_last_round(evidence: StoreEvidence) -> None:
    """With what its clients did."""
    last = evidence.rounds.pop()
    evidence.operations = [each for each in evidence.operations if each.invoked < last.began]


def spoil_the_last_round(evidence: StoreEvidence) -> None:
    """So that it is not judged."""
    last = evidence.rounds[-1]
    last.spoiled, last.transfers = True, None
    evidence.operations = [each for each in evidence.operations if each.invoked < last.began]


def break_the_store(evidence: StoreEvidence) -> None:
    """It ended by itself in the last round."""
    last = evidence.rounds[-1]
    last.broken, last.transfers = Broken("it ended", "", needs_repair=False), None


def hide_reach(evidence: StoreEvidence) -> None:
    """Whether the fault struck the files."""
    evidence.rounds[0].reach = None


def another_node(evidence: StoreEvidence) -> None:
    """A client is said to have asked it."""
    cluster = evidence.rounds[0].cluster
    assert cluster is not None
    struck_at = {each.client for each in cluster.connections if each.node == cluster.struck}
    other = next(name for name in cluster.nodes if name not in (cluster.struck, cluster.successor))
    cluster.connections = [replace(each, node=other) if each.client == min(struck_at) else each for each in cluster.connections]


def another_fault(evidence: StoreEvidence) -> None:
    cluster = evidence.rounds[0].cluster
    assert cluster is not None
    cluster.fault = "pause_primary"


def answering(choose: Callable[[list[Operation], Operation], str | None]) -> Forge:
    """The last read of its own key by a client, or of any, has another answer. `choose`: it, of the key's history."""

    def forge(evidence: StoreEvidence) -> None:
        reads = [each for each in evidence.operations if each.action == "get" and each.outcome == "ok" and isinstance(each.answer, str)]
        last = next(each for each in reversed(reads) if each.answer.partition(":")[0] == str(each.client))  # type: ignore[union-attr]
        other = replace(last, answer=choose(by_place(evidence.operations)[last.place], last))
        evidence.operations = [other if each is last else each for each in evidence.operations]

    return forge


def forget_a_read(evidence: StoreEvidence) -> None:
    """That was answered."""
    evidence.operations.remove(next(each for each in evidence.operations if each.action == "get" and each.outcome == "ok"))


def before_all(evidence: StoreEvidence) -> None:
    """An operation of no round."""
    evidence.rounds[0].began = evidence.operations[0].invoked + 1


def crowd_a_key(evidence: StoreEvidence) -> None:
    """With more operations than a search can handle."""
    first = evidence.operations[0]
    more = [replace(first.without_reply(), client=number) for number in range(100, 1_101)]
    evidence.operations = [*more, *evidence.operations]


def strike_at_once(evidence: StoreEvidence) -> None:
    """Before a write was acknowledged."""
    evidence.rounds[0].struck = evidence.rounds[0].began + 1


NOTHING = answering(lambda *_: None)
FIRST = answering(lambda history, _: next(each.write_id for each in history if each.action == "put" and each.outcome == "ok"))
INVENTED = answering(lambda *_: "7:7")
FAILS = "is pass in the result, and fail by the histories"
STALE = "is pass in the result, and unsupported by the histories"
"""The variant declares that its reads may be stale."""
COUNTS = "shows something else by its histories: 2 faults; "
FORGERIES: Final[Sequence[tuple[str, str, str, Forge, str]]] = (
    ("a transfer lost", "transfers", CRASH, lose_a_transfer, FAILS),
    ("half of a transfer lost", "transfers", CRASH, lose_half_of_one, FAILS),
    ("a snapshot of a half", "transfers", CRASH, skew_a_snapshot, FAILS),
    ("a transfer never sent", "transfers", CRASH, forget_a_transfer, COUNTS),
    ("an answer lost", "transfers", CRASH, lose_an_answer, COUNTS),
    ("a transfer too soon", "transfers", CRASH, send_too_soon, "was sent before its client had the reply to the one before"),
    (
        "a transfer after the load",
        "transfers",
        CRASH,
        send_after_the_load,
        "has transfers that were sent before or after its load",
    ),
    ("no transfers", "transfers", CRASH, drop_the_transfers, "cannot be judged: it has no transfers"),
    ("a round less", "transfers", CRASH, drop_the_last_round, "has 1 rounds that count, where the scale wants 2"),
    ("a spoiled round", "transfers", CRASH, spoil_the_last_round, "has 1 rounds that count, where the scale wants 2"),
    ("a broken store", "transfers", CRASH, break_the_store, FAILS),
    ("no reach", "transfers", CRASH, hide_reach, "does not show that its fault struck the store's files"),
    ("a transfer of a cluster lost", "transfers", SPLIT, lose_a_transfer, FAILS),
    ("another node", "transfers", SPLIT, another_node, "shows something else by its histories: other rounds by node"),
    ("another fault", "transfers", SPLIT, another_fault, "was struck by `pause_primary`, where isolate_primary was due"),
    ("a session that forgets", "sessions", CRASH, NOTHING, FAILS),
    ("a session that reads what none wrote", "sessions", CRASH, INVENTED, FAILS),
    ("a session's read never sent", "sessions", CRASH, forget_a_read, COUNTS.removesuffix("2 faults; ")),
    ("a session before its round", "sessions", CRASH, before_all, "operations of no round that counts"),
    ("a session's spoiled round", "sessions", CRASH, spoil_the_last_round, "has 1 rounds that count, where the scale wants 2"),
    ("a session of a cluster that forgets", "sessions", SPLIT, NOTHING, STALE),
    ("a key of a cluster that goes back", "linearizable", SPLIT, FIRST, STALE),
    ("a key that goes back", "linearizable", CRASH, FIRST, FAILS),
    ("a key that shows what none wrote", "linearizable", CRASH, INVENTED, FAILS),
    ("a key's read never sent", "linearizable", CRASH, forget_a_read, COUNTS),
    ("a crowded key", "linearizable", CRASH, crowd_a_key, "operations, and clients send 1,000 at most to one"),
    ("a commit lost", "isolation", CRASH, read_back_older, FAILS),
    ("a commit of a cluster lost", "isolation", SPLIT, read_back_older, FAILS),
    ("a transaction never sent", "isolation", CRASH, forget_a_transaction, "should be"),
    ("a reply to a commit lost", "isolation", CRASH, lose_a_commits_reply, "shows something else by its histories"),
    ("a transaction of the next round", "isolation", CRASH, move_a_transaction, "has transactions that were sent in another one"),
    ("no transactions across a fault", "isolation", CRASH, drop_the_transactions, "it has no transactions of the mix"),
    ("transactions at another level", "isolation", CRASH, another_level, "it has no transactions of the mix"),
    ("a strike at once", "linearizable", CRASH, strike_at_once, "is pass in the result, and inconclusive by the histories"),
    ("contended keys before their round", "linearizable", CRASH, before_all, "operations of no round that counts"),
)


@pytest.mark.parametrize("each", EACH, ids="/".join)
def test_true_histories_are_accepted(true: dict[tuple[str, str], True_], each: tuple[str, str]) -> None:
    """All rounds are judged again, and a verdict may be worse."""
    found = true[each]
    again = judged(found, found[0])
    assert isinstance(again, JudgedAgain), again
    assert (again.cases, again.rounds, again.disputed, again.undecided) == (1, 2, (), ())
    assert again.operations > 50
    assert isinstance(judged(found, found[0], says=Outcome.ERROR), JudgedAgain)


@pytest.mark.parametrize(("kind", "guarantee", "forge", "why"), [each[1:] for each in FORGERIES], ids=[each[0] for each in FORGERIES])
def test_a_forgery_is_refused(true: dict[tuple[str, str], True_], kind: str, guarantee: str, forge: Forge, why: str) -> None:
    """By name."""
    found = true[kind, guarantee]
    forged = deepcopy(found[0])
    forge(forged)
    again = judged(found, forged)
    assert isinstance(again, str)
    assert why in again, again
    assert f"{kind}/{guarantee}" in again


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_without_its_histories_is_refused_of_releases_that_keep_them(true: dict[tuple[str, str], True_], kind: str) -> None:
    """Earlier ones did not, and what they judged stays."""
    before: Any = SimpleNamespace(reach=True, parts=True, workloads=False)
    assert str(judged(true[kind, CRASH])).endswith(f"{kind}/process_crash is pass in the result, and there are no histories of it")
    assert isinstance(judged(true[kind, CRASH], judge=before), JudgedAgain)


@pytest.mark.parametrize("attempts", [2, 3])
def test_a_second_attempt_follows_a_spoiled_one_alone(true: dict[tuple[str, str], True_], attempts: int) -> None:
    """Another one would be a choice among results."""
    evidence, _ = found = true["sessions", CRASH]
    parts = [replace(evidence, seed=f"{evidence.seed[:-1]}{number}", operations=[*evidence.operations]) for number in range(attempts)]
    for number, each in enumerate(parts):
        each.operations[0] = replace(each.operations[0], completed=(each.operations[0].completed or 0) + number)
    assert "was tried again after attempt 1, which was not spoiled" in str(judged(found, *parts))


def test_an_order_that_is_not_found_in_time_stays_the_makers_word(
    true: dict[tuple[str, str], True_], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is named."""
    monkeypatch.setattr(durability, "_SEARCH_SECONDS", 0.0)
    found = true["linearizable", CRASH]
    again = judged(found, found[0])
    assert isinstance(again, JudgedAgain)
    assert again.undecided == ("durability.linearizable/process_crash",)
