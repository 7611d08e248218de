"""Needs of clusters: small results show each verdict, and the published ones answer as they say."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.result.measured.cluster_round import ClusterRoundRecord, NodeSpan
from storeproof.result.model import GuaranteeRecord, StoreResult
from storeproof.result.needs.clusters import rounds_without_failover
from storeproof.result.needs.decision import decide
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.result.needs.published import published_evidence
from storeproof.spec.editions.frozen import frozen_editions, load_edition
from storeproof.spec.questions.needs import NeedsFile
from tests.report.clusters import cluster_round, parts
from tests.result.needs.needed import case, decided, judgement, known, needs, struck

OWN, PROMOTED = "mongodb:three-members-majority", "postgresql:standbys-on"


def cluster(*faults: GuaranteeRecord, target: str = OWN, **about: Any) -> StoreResult:
    return known(target, faults=faults, topology="three", **about)


def lossy(fault: str, lost: int) -> ClusterRoundRecord:
    span = NodeSpan(node="n1", phase="during", acknowledged=10 * lost, found=0, lost=lost, unknown=0, refused=0, last_second=None)
    moments: dict[str, Any] = dict.fromkeys(("began_second", "strike_second", "ended_second"), 0.0)
    none: dict[str, Any] = dict.fromkeys(("successor", "failover_second", "healed_second"))
    return ClusterRoundRecord(fault=fault, nodes=[], struck="n1", primary="n2", spans=[span], **moments, **none)


def judged(subject: str, found: StoreResult, **role: Any) -> JudgedNeed:
    return judgement(decided(needs(**role), found), subject)


def test_what_a_cluster_survives_is_what_its_faults_left() -> None:
    """No loss meets it, whether promised or not. Of a loss the reason has the sum, and the fault that lost most."""
    kept = struck("node_loss").model_copy(update={"outcome": Outcome.UNDECLARED})
    assert judged("survives", cluster(kept), survives=["node_loss"]).verdict is NeedVerdict.MET
    rounds = [lossy("kill_primary", 2), lossy("second_primary", 30), lossy("second_primary", 10)]
    lost = struck("node_loss", 40, cluster_rounds=rounds, lost_operations=42, acknowledged=1000)
    found = judged("survives", cluster(lost), survives=["node_loss"])
    assert found.verdict is NeedVerdict.NOT_MET
    assert found.reason == "42 of 1,000 acknowledged writes lost (4 %) in 20 faults, most by second_primary: 40 in 2 rounds"


def test_what_was_not_tried_is_not_tested_and_one_server_is_no_cluster() -> None:
    """A run could show it of a cluster; nothing could of one server."""
    role = {"survives": ["partition"], "failover_within": "10 s", "reads": "linearizable"}
    for subject in ("survives", "failover", "reads"):
        found = judged(subject, cluster(), **role)
        assert (found.verdict, "not tested" in found.reason, "partition" in found.command) == (NeedVerdict.NOT_SHOWN, True, True)
    alone = known("mongodb:journaled", topology="single")
    for subject in ("survives", "failover"):
        found = judged(subject, alone, **role)
        assert (found.verdict, found.reason) == (NeedVerdict.NOT_MET, "it is one server, and no cluster")


@pytest.mark.parametrize(("most", "verdict"), [("4 s", NeedVerdict.MET), ("2 s", NeedVerdict.NOT_MET)])
def test_the_slowest_failover_decides(most: str, verdict: NeedVerdict) -> None:
    """Of all faults that are asked about; the reason has the span, and by which fault the slowest was."""
    faults = [struck("node_loss", recovery_seconds=[0.5, 1.0]), struck("partition", recovery_seconds=[0.7, 3.0])]
    found = judged("failover", cluster(*faults), failover_within=most)
    assert found.verdict is verdict
    assert "500 ms to 3 s after the fault, at the latest by partition" in found.reason
    assert judged("failover", cluster(*faults), failover_within="2 s", survives=["node_loss"]).verdict is NeedVerdict.MET


def test_a_promotion_by_storeproof_shows_only_what_is_missed() -> None:
    """What would detect the loss was not there; slower than this it is all the same."""
    fault = struck("node_loss", recovery_seconds=[0.5, 1.0])
    role = {"survives": ["node_loss"]}
    found = judged("failover", cluster(fault, target=PROMOTED), failover_within="10 s", **role)
    assert (found.verdict, "promoted by storeproof" in found.reason) == (NeedVerdict.NOT_SHOWN, True)
    assert judged("failover", cluster(fault, target=PROMOTED), failover_within="800 ms", **role).verdict is NeedVerdict.NOT_MET


def test_a_failover_is_judged_as_a_whole_and_told_in_its_parts() -> None:
    """By the medians of the rounds that tell them."""
    rounds = [cluster_round("kill_primary", failover=each) for each in (parts(), parts(detected_second=1.2), None)]
    fault = struck("node_loss", recovery_seconds=[2.0, 2.0, 2.0], cluster_rounds=rounds)
    found = judged("failover", cluster(fault), failover_within="3 s", survives=["node_loss"])
    assert found.verdict is NeedVerdict.MET
    assert "2 s to 2 s after the fault (detected 1.1 s, elected 1.5 s), at the latest by node_loss" in found.reason


def test_a_round_in_which_no_node_took_over_misses_any_time() -> None:
    """The times of the others do not hide it."""
    fault = struck("node_loss", recovery_seconds=[0.5], without_failover=3)
    older = struck("node_loss", recovery_seconds=[0.5], detail="nothing lost; no other node took writes in time: 3 times")
    assert rounds_without_failover(fault) == rounds_without_failover(older) == 3
    found = judged("failover", cluster(fault), failover_within="1 h", survives=["node_loss"])
    assert (found.verdict, found.reason) == (NeedVerdict.NOT_MET, "in 3 faults no other node took writes in time")


def test_reads_are_judged_by_the_histories_of_the_same_faults() -> None:
    """One fault with a history that no order explains refutes it, and is told; what is only declared as possible counts as seen."""
    right = case("durability.linearizable/node_loss", detail="15 faults; 900 operations on 90 keys, 2 of them unknown; rounds: 0 of 5")
    told = "30 faults; rounds that no order explains: isolate_primary 5 of 5, split_all 0 of 5; not linearizable"
    wrong = case("durability.linearizable/partition", Outcome.UNSUPPORTED, detail=told)
    found = judged("reads", cluster(cases=[right, wrong]), reads="linearizable")
    assert found.verdict is NeedVerdict.NOT_MET
    assert found.reason == f"partition: {told}"
    kept = judged("reads", cluster(cases=[right, wrong]), reads="linearizable", survives=["node_loss"])
    assert kept.verdict is NeedVerdict.MET
    assert kept.reason == f"node_loss: {right.detail}"
    assert judged("reads", cluster(cases=[right]), reads="session", survives=["node_loss"]).verdict is NeedVerdict.NOT_SHOWN
    alone = known("mongodb:journaled", cases=[case("durability.linearizable/process_crash")], topology="single")
    assert judged("reads", alone, reads="linearizable").verdict is NeedVerdict.MET


PUBLISHED = {
    "mongodb:three-members-linearizable": {"node_loss": "met", "partition": "met", "failover within 10 s": "met", "linearizable": "met"},
    "etcd:three-members": {"node_loss": "met", "partition": "met", "failover within 10 s": "met", "linearizable": "met"},
    "etcd:three-members-serializable": {"linearizable": "not met"},
    "mariadb:galera": {"node_loss": "met", "partition": "met", "failover within 10 s": "met", "linearizable": "not shown"},
    "postgresql:standbys-local": {"node_loss": "not met", "partition": "not met", "failover within 10 s": "not shown"},
    "postgresql:standbys-on": {"node_loss": "met", "partition": "met", "failover within 10 s": "not shown", "linearizable": "not met"},
    "redis:sentinel": {"node_loss": "not met", "partition": "not met", "failover within 10 s": "met", "linearizable": "not shown"},
    "redis:sentinel-wait-1": {"node_loss": "met", "partition": "not met"},
    "mysql-ndb:gcp-2000": {"node_loss": "not shown"},
    "redis:volatile": {"node_loss": "not met", "partition": "not met", "failover within 10 s": "not met"},
}
"""By hand from the published runs of clusters, `reports/*-nodes`: what they lost, their slowest failover, and their histories."""


def test_published_results_answer_for_clusters() -> None:
    """Every verdict is what the runs of clusters say; and the losses are told with their numbers."""
    role = {"model": "hash10", "survives": ["node_loss", "partition"], "failover_within": "10 s", "reads": "linearizable"}
    file = {"format": "1.3", "decision": "d", "question": "Which cluster?", "roles": {"orders": role}}
    newest = load_edition([*frozen_editions()][-1])
    candidates = {each.name: each for each in decide(NeedsFile.model_validate(file), published_evidence(), newest).candidates}
    for name, expected in PUBLISHED.items():
        found = {each.need.name: str(each.verdict) for each in candidates[name].judged}
        assert {need: found[need] for need in expected} == expected, name
    wait = next(each for each in candidates["redis:sentinel-wait-1"].judged if each.need.name == "partition")
    assert wait.reason == "6 of 805,741 acknowledged writes lost (< 1 %) in 30 faults, all by lossy_links: 6 in 1 round"
