"""Rounds of faults on a cluster in this process."""

from __future__ import annotations

import io
import time
from functools import partial

import pytest

from storeproof.contract import Layout
from storeproof.evidence import StoreEvidence, evidence_file, member_of, read_evidence
from storeproof.experiments.durability.clusters import pace
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.replay import replay
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.workloads.cluster_records import ClusterRecords
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster
from storeproof.result.model import GuaranteeRecord
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory_cluster import MemoryCluster, connect_to, subject
from tests.shipped import SHIPPED

CASE = "durability.partition"
ROUNDS = 2
SCALE = DurabilityScale.model_construct(rounds=ROUNDS, clients=4, load_seconds=(0.01, 0.03))
LAYOUTS = {name: Layout(f"c_{name}", SHIPPED.models[name]) for name in ("single_key", "hash10", "counter")}


class Lose(ClusterFault):
    """As `lagging_node_wipe`, without its second."""

    name = "lose"
    loses_node = True

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.network.slow(node, {})
        time.sleep(0.02)
        cluster.network.unplug(node)
        cluster.node(node).kill()
        cluster.node(node).empty()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real cluster needs seconds for, this one does at once."""
    for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
        monkeypatch.setattr(cluster_strike, name, 0.03)
    monkeypatch.setattr(pace, "LEAST", 0.001)
    monkeypatch.setattr("storeproof.machine.deadline.machine_is_busy", lambda: "")
    monkeypatch.setattr(cluster_strike, "machine_is_busy", lambda: "")


def struck(
    cluster: MemoryCluster, *faults: ClusterFault, summary: DurabilitySummary | None = None, stale_possible: bool = True
) -> DurabilitySummary:
    """All rounds. What is made of their evidence, as a file has it, is the same."""
    alone, summary = summary is None, summary if summary is not None else DurabilitySummary()
    rounds = rounds_on(cluster, *faults, summary=summary, stale_possible=stale_possible)
    rounds.run()
    if alone:
        assert judged_again(kept(rounds), stale_possible=stale_possible) == record_of(summary)
    return summary


def rounds_on(
    cluster: MemoryCluster, *faults: ClusterFault, summary: DurabilitySummary | None = None, stale_possible: bool = True
) -> StrikeRounds[ClusterStrike]:
    """Those that are due."""
    where, turns = subject(cluster), SCALE.turns(faults)
    records = ClusterRecords(where, LAYOUTS, SCALE, summary or DurabilitySummary(), len(turns), stale_possible=stale_possible)
    strikes = [partial(ClusterStrike, where, fault, partial(connect_to, cluster)) for fault in turns]
    return StrikeRounds(where, strikes, records)


def kept(rounds: StrikeRounds[ClusterStrike]) -> StoreEvidence:
    """The evidence of a run, as a file has it."""
    assert isinstance(rounds.workload, ClusterRecords)
    packed = evidence_file(
        "1", [member_of(rounds.workload.evidence(CASE, "7 memory:variant partition 0", "memory:variant", cuts_off=False))]
    )
    (found,) = read_evidence(io.BytesIO(packed), "1")
    return found


def judged_again(evidence: StoreEvidence, *, stale_possible: bool = True) -> GuaranteeRecord:
    """What follows from it."""
    summary = DurabilitySummary()
    replay(evidence, summary, stale_possible=stale_possible)
    return record_of(summary)


def record_of(summary: DurabilitySummary) -> GuaranteeRecord:
    """What the result has, but for what the histories do not tell: words, and the files that nodes kept of undone writes."""
    made = summary.record("partition", summary.outcome(claimed=True), "")
    return made.model_copy(update={"cluster_rounds": [each.model_copy(update={"set_aside": []}) for each in made.cluster_rounds]})
