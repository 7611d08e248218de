"""A claim of a cluster is held against the histories of its rounds: true ones are accepted, and each forgery is refused by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

import pytest

from storeproof.conformance.histories.durability import check_durability
from storeproof.conformance.judged_by import check_named
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.verdicts import record_of
from storeproof.evidence import EVIDENCE, AuditEvidence, ClusterEvidence, NodeAudit, RoundEvidence, StoreEvidence, evidence_file, member_of
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.replay import replay
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.faults.kill_primary import KillPrimary
from storeproof.faults.lossy_links import LossyLinks
from storeproof.history import ABSENT, Observation, Operation, Place, by_place
from storeproof.outcome import Outcome
from storeproof.result.measured.cluster_round import CaseRounds
from storeproof.result.model import GuaranteeRecord
from storeproof.spec import Target
from storeproof.spec.guarantee import Guarantee
from tests.conformance.published import published
from tests.experiments.durability.memory_cluster import Promoted
from tests.experiments.durability.struck_cluster import SCALE, kept, rounds_on
from tests.shipped import SHIPPED

NAME: Final = "partition"
STORE, FILE = SHIPPED.store("postgresql")
TARGET = Target(STORE, "standbys-on", FILE, {})
FAULTS = (IsolatePrimary(), KillPrimary(), LossyLinks())
GUARANTEE = Guarantee(
    format="1.1",
    guarantee=NAME,
    title="",
    promise="",
    fault=FAULTS[0].name,
    further_faults=tuple(each.name for each in FAULTS[1:]),
    load=("stream",),
)

Forge = Callable[[StoreEvidence], None]


@pytest.fixture(scope="module")
def true() -> StoreEvidence:
    """Of two rounds of each of three faults, on a cluster that waits for a replica."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
            patch.setattr(cluster_strike, name, 0.03)
        patch.setattr(LossyLinks, "lasts", 0.05)
        rounds = rounds_on(Promoted(synchronous=True), *FAULTS)
        rounds.run()
        return replace(kept(rounds), target=TARGET.id, seed=f"{published().run.seed} {TARGET.id} {NAME} 0")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LossyLinks, "lasts", 0.05)


def remade(evidence: StoreEvidence) -> GuaranteeRecord:
    """What a forger writes into the result, so that it says what the histories show."""
    summary = DurabilitySummary()
    replay(evidence, summary, stale_possible=TARGET.stale_reads)
    return summary.record(NAME, summary.outcome(claimed=True), summary.sentence())


def refused(evidence: StoreEvidence, record: GuaranteeRecord) -> str:
    """Why a claim is refused that has these histories and this record; empty where it is not."""
    content, result = evidence_file(published().run.id, [member_of(evidence)]), published()
    digest, of = hashlib.sha256(content).hexdigest(), result.stores[0]
    case = of.outcomes[0].model_copy(update={"id": f"durability.{NAME}", "outcome": record.outcome, "seconds": 3600.0})
    claim = of.model_copy(update={"outcomes": [case], "durability": of.durability.model_copy(update={"guarantees": [record]})})
    claim = claim.model_copy(update={"store": TARGET.store.name, "variant": TARGET.variant})
    archive: Any = _Held({EVIDENCE: content})
    known: Any = _Known()
    judge: Any = _Judge()
    try:
        check_durability(result.run.model_copy(update={"evidence": digest}), claim, TARGET, archive, known, judge)
    except ClaimRefused as reason:
        return str(reason)
    return ""


class _Held:
    """The parts of a bundle."""

    def __init__(self, places: dict[str, bytes]) -> None:
        self.places = places

    def read(self, name: str) -> bytes:
        return self.places[name]

    def digest(self, name: str) -> str:
        return hashlib.sha256(self.places[name]).hexdigest()


class _Known:
    """Rounds as short as those of these tests."""

    durability = SCALE
    disputed: frozenset[str] = frozenset()
    guarantees = {NAME: GUARANTEE}

    def scale(self, _: str) -> _Known:
        return self

    @property
    def spec(self) -> _Known:
        return self


class _Judge:
    reach = parts = workloads = True


def of(round_: RoundEvidence) -> ClusterEvidence:
    """What it has of a cluster."""
    assert round_.cluster is not None
    return round_.cluster


def audit(round_: RoundEvidence) -> AuditEvidence:
    """What was read of the primary."""
    assert round_.audit is not None
    return round_.audit


def whole(evidence: StoreEvidence, number: int) -> tuple[Place, Operation]:
    """A record that was written once, acknowledged and read whole in a round."""
    operations = by_place(evidence.operations)
    found = ((place, operations[place]) for place, seen in audit(evidence.rounds[number]).seen.items() if isinstance(seen, Observation))
    return next((place, sent[0]) for place, sent in found if [(each.action, each.outcome) for each in sent] == [("put", "ok")])


def lose_a_record(evidence: StoreEvidence) -> None:
    """In one audit of one round."""
    changed, (place, _) = evidence.rounds[-1], whole(evidence, -1)
    changed.audit = replace(audit(changed), seen={**audit(changed).seen, place: ABSENT})


def lose_it_without_the_node(evidence: StoreEvidence) -> None:
    """In the audit while the lost node is gone."""
    cluster = of(evidence.rounds[1])
    assert cluster.without is not None
    place, _ = whole(evidence, 1)
    cluster.without = replace(cluster.without, seen={**cluster.without.seen, place: ABSENT})


def differ(evidence: StoreEvidence) -> None:
    """One node shows a record that the primary does not."""
    cluster, (place, _) = of(evidence.rounds[0]), whole(evidence, 0)
    cluster.others[0] = replace(cluster.others[0], unlike={place: ABSENT})


def drop_a_round(evidence: StoreEvidence) -> None:
    """With all that its clients did."""
    gone, before = evidence.rounds.pop(2), audit(evidence.rounds[1])
    later = {each.place for each in evidence.operations if before.ended <= each.invoked <= audit(gone).ended}
    evidence.operations = [each for each in evidence.operations if each.place not in later]
    for each in evidence.rounds:
        each.audit = replace(audit(each), seen={place: seen for place, seen in audit(each).seen.items() if place not in later})
        if of(each).without is not None:
            left = {place: seen for place, seen in of(each).without.seen.items() if place not in later}  # type: ignore[union-attr]
            of(each).without = replace(of(each).without, seen=left)  # type: ignore[type-var]


def drop_the_last_round(evidence: StoreEvidence) -> None:
    """And nothing else."""
    evidence.rounds.pop()


def relabel(evidence: StoreEvidence) -> None:
    """Two rounds change places in name."""
    first, second = of(evidence.rounds[0]), of(evidence.rounds[1])
    first.fault, second.fault = second.fault, first.fault


def rename_the_fault(evidence: StoreEvidence) -> None:
    """Of one round."""
    of(evidence.rounds[3]).fault = "pause_primary"


def forget_a_write(evidence: StoreEvidence) -> None:
    """That was acknowledged, and is read back: it replaced an earlier one."""
    operations = by_place(evidence.operations)
    shown = {seen.write_id for seen in audit(evidence.rounds[0]).seen.values() if isinstance(seen, Observation)} - {""}
    evidence.operations.remove(next(each for each in evidence.operations if each.write_id in shown and len(operations[each.place]) > 1))


def leave_a_key_out(evidence: StoreEvidence) -> None:
    """It is not read back."""
    changed, (place, _) = evidence.rounds[0], whole(evidence, 0)
    changed.audit = replace(audit(changed), seen={name: seen for name, seen in audit(changed).seen.items() if name != place})


def forget_it_everywhere(evidence: StoreEvidence) -> None:
    """It is not read back either."""
    place, sent = whole(evidence, 0)
    evidence.operations.remove(sent)
    for each in (evidence.rounds[0], evidence.rounds[-1]):
        each.audit = replace(audit(each), seen={name: seen for name, seen in audit(each).seen.items() if name != place})


def move_a_nodes_audit(evidence: StoreEvidence) -> None:
    """That of one node is said to be another one's."""
    cluster = of(evidence.rounds[0])
    cluster.others[0] = replace(cluster.others[0], node=cluster.others[1].node)


def leave_a_node_out(evidence: StoreEvidence) -> None:
    """It is not compared."""
    of(evidence.rounds[0]).others.pop()


def read_another_primary(evidence: StoreEvidence) -> None:
    """The audits of the primary and of another node change places."""
    cluster = of(evidence.rounds[0])
    other, cluster.primary = cluster.others[0].node, cluster.others[0].node
    before = next(name for name in cluster.nodes if name not in {each.node for each in cluster.others})
    cluster.others = sorted((replace(each, node=before if each.node == other else each.node) for each in cluster.others), key=_node)


def _node(audited: NodeAudit) -> str:
    return audited.node


def strike_another_node(evidence: StoreEvidence) -> None:
    """The one that took over is said to have been struck."""
    cluster = of(evidence.rounds[0])
    assert cluster.successor is not None
    cluster.struck = cluster.successor


def take_over_sooner(evidence: StoreEvidence) -> None:
    """Before the node that took over acknowledged anything."""
    of(evidence.rounds[0]).succession = None
    of(evidence.rounds[0]).failed_over = evidence.rounds[0].struck + 1


def take_over_later(evidence: StoreEvidence) -> None:
    """By a millisecond."""
    cluster = of(evidence.rounds[0])
    assert cluster.failed_over is not None
    cluster.failed_over += 1_000_000


def promote_itself(evidence: StoreEvidence) -> None:
    """The store is said to have done what storeproof did."""
    cluster = of(evidence.rounds[0])
    assert cluster.succession is not None
    cluster.succession = replace(cluster.succession, promoted=False)


def detect(evidence: StoreEvidence) -> None:
    """Which an operator who promotes at once does not."""
    cluster = of(evidence.rounds[0])
    assert cluster.succession is not None
    cluster.succession = replace(cluster.succession, missed=cluster.succession.elected)


def forget_how(evidence: StoreEvidence) -> None:
    """The result says it all the same."""
    of(evidence.rounds[0]).succession = None


def heal_at_once(evidence: StoreEvidence) -> None:
    """A fault that lasts."""
    of(evidence.rounds[2]).healed = evidence.rounds[2].struck + 1


def lose_no_node(evidence: StoreEvidence) -> None:
    """It came back under load, and nothing was read without it."""
    cluster = of(evidence.rounds[1])
    cluster.healed, cluster.without = evidence.rounds[1].load_ended, None


def read_nothing_without_it(evidence: StoreEvidence) -> None:
    """The audit while the lost node is gone is left out."""
    of(evidence.rounds[1]).without = None


def read_what_was_replaced(evidence: StoreEvidence) -> None:
    """A client of the watched key reads its first record in the end."""
    cluster = of(evidence.rounds[0])
    first = next(each for each in cluster.reads if each.action == "put" and each.outcome == "ok")
    last = max(number for number, each in enumerate(cluster.reads) if each.action == "get" and each.outcome == "ok")
    cluster.reads = [replace(each, answer=first.write_id) if number == last else each for number, each in enumerate(cluster.reads)]


def leave_a_read_out(evidence: StoreEvidence) -> None:
    """One of the watched key that was answered."""
    cluster = of(evidence.rounds[0])
    gone = next(each for each in cluster.reads if each.action == "get" and each.outcome == "ok")
    cluster.reads = [each for each in cluster.reads if each is not gone]


def grow(evidence: StoreEvidence) -> None:
    """Another topology."""
    cluster = of(evidence.rounds[0])
    cluster.nodes = (*cluster.nodes, "n4")


def no_cluster(evidence: StoreEvidence) -> None:
    """A round of a single server among them."""
    evidence.rounds[0].cluster = None


FORGERIES: Sequence[tuple[Forge, bool, str]] = (
    (lose_a_record, False, "durability: partition: faults_with_loss is 0 in the result, and 1 by the histories"),
    (
        lose_it_without_the_node,
        False,
        "round 2 of durability.partition: 1 keys were to be read back and were not, or the reverse",
    ),
    (differ, False, "durability: partition is pass in the result, and fail by the histories"),
    (drop_a_round, True, "evidence: round 3 of durability.partition was struck by `isolate_primary`, where lossy_links was due"),
    (drop_the_last_round, True, "rounds: partition was struck 5 times under the load `stream`, where the scale wants 6"),
    (relabel, True, "evidence: round 1 of durability.partition was struck by `kill_primary`, where isolate_primary was due"),
    (rename_the_fault, False, "evidence: round 4 of durability.partition was struck by `pause_primary`, where isolate_primary was due"),
    (forget_a_write, False, "1 keys were to be read back and were not, or the reverse"),  # what is harmed once is not read again
    (leave_a_key_out, False, "round 1 of durability.partition: 1 keys were to be read back and were not, or the reverse"),
    (forget_it_everywhere, False, "durability: partition: acknowledged is "),
    (move_a_nodes_audit, False, "evidence: round 1 of durability.partition does not compare each other node with the primary once"),
    (leave_a_node_out, False, "evidence: round 1 of durability.partition does not compare each other node with the primary once"),
    (read_another_primary, False, "durability: partition: round 1 is another one in the result than by the histories"),
    (strike_another_node, True, "evidence: round 1 of durability.partition has a failover without a node that took over, or the reverse"),
    (take_over_sooner, True, "had acknowledged nothing when it is said to have taken over"),
    (take_over_later, False, "durability: partition: recovery_seconds is "),
    (promote_itself, True, "evidence: round 1 of durability.partition does not say by whom another node was promoted"),
    (detect, False, "evidence: round 1 of durability.partition has parts of a failover that no run sees together"),
    (forget_how, False, "durability: partition: round 1 is another one in the result than by the histories"),
    (heal_at_once, True, "evidence: round 3 of durability.partition: `lossy_links` ended before its 0.05 s were over"),
    (lose_no_node, True, "evidence: round 2 of durability.partition: `kill_primary` ended under the load, and not after it"),
    (read_nothing_without_it, False, "evidence: round 2 of durability.partition was not read without its lost node"),
    (leave_a_read_out, False, "durability: partition has other reads of the watched key than by the histories: "),
    (grow, False, "evidence: round 1 of durability.partition has the nodes n1, n2, n3, n4, and the topology n1, n2, n3"),
    (no_cluster, False, "evidence: the histories of 'durability.partition' are not of the fault that tests it"),
)


def test_true_histories_are_accepted(true: StoreEvidence) -> None:
    """With the record that the run made of them, and with a worse verdict."""
    record = remade(true)
    assert (record.outcome, record.rounds) == (Outcome.PASS, 6)
    assert refused(true, record) == ""
    assert refused(true, record.model_copy(update={"outcome": Outcome.ERROR})) == ""


@pytest.mark.parametrize(("forge", "follows", "why"), FORGERIES, ids=[each[0].__name__ for each in FORGERIES])
def test_a_forgery_is_refused(true: StoreEvidence, forge: Forge, follows: bool, why: str) -> None:
    """By name. `follows`: the result says what the forged histories show; else it is as the run left it."""
    forged = deepcopy(true)
    forge(forged)
    found = refused(forged, remade(forged if follows else true))
    assert why in found, found


def test_a_stale_read_counts_as_the_variant_says(true: StoreEvidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused where the variant says that it has none."""
    forged = deepcopy(true)
    read_what_was_replaced(forged)
    for possible, why in ((True, ""), (False, "durability: partition is pass in the result, and fail by the histories")):
        monkeypatch.setattr(Target, "stale_reads", possible)
        assert refused(forged, remade(forged).model_copy(update={"outcome": Outcome.PASS})) == why


def test_a_result_names_the_cluster_that_its_file_describes() -> None:
    """And not the server that the store runs as by default."""
    of = published().stores[0].model_copy(update={"store": STORE.name, "title": STORE.title, "topology": "standbys"})
    check_named(of, TARGET)
    with pytest.raises(ClaimRefused, match="the result calls the store PostgreSQL as single, its file PostgreSQL as standbys"):
        check_named(of.model_copy(update={"topology": "single"}), TARGET)


def test_the_rounds_of_transfers_and_sessions_stay_in_the_sums() -> None:
    """What is proven is computed again beside them."""
    rounds = CaseRounds(case="durability.sessions/partition", kind="reads", rounds=[], struck={}, lossy={})
    durability = published().stores[0].durability.model_copy(update={"failovers": [rounds]})
    assert record_of(published().stores[0].model_copy(update={"durability": durability}), TARGET).durability().failovers == [rounds]
