"""Increments that a cluster in this process acknowledged and lost: its counters are wrong, and nothing else is."""

from __future__ import annotations

from functools import partial

import pytest

from storeproof.check import Anomaly
from storeproof.contract import Key, Layout, Record
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.workloads.cluster_records import ClusterRecords
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory_cluster import MemoryCluster, NodeStore, connect_to, subject
from tests.shipped import SHIPPED

SCALE = DurabilityScale.model_construct(rounds=2, clients=4, load_seconds=(0.01, 0.03))
LAYOUTS = {name: Layout(f"c_{name}", SHIPPED.models[name]) for name in ("single_key", "counter")}


class Uncounted(MemoryCluster):
    """Increments are acknowledged while no other node hears of them; other writes wait."""

    def copy(self, source: NodeStore, name: str, key: Key, record: Record | None) -> int:
        return super().copy(source, name, key, record) or name == LAYOUTS["counter"].name


@pytest.mark.parametrize(("cluster", "wrong"), [(MemoryCluster, set()), (Uncounted, {Anomaly.MISCOUNTED})])
def test_increments_that_a_failover_lost_are_miscounted(
    cluster: type[MemoryCluster], wrong: set[Anomaly], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those without an answer may be there or not."""
    monkeypatch.setattr(cluster_strike, "_SIDES_SECONDS", 0.1)
    monkeypatch.setattr(cluster_strike, "_DEPOSED_SECONDS", 0.1)
    struck = cluster(synchronous=True)
    where, turns, summary = subject(struck), SCALE.turns([IsolatePrimary()]), DurabilitySummary()
    records = ClusterRecords(where, LAYOUTS, SCALE, summary, len(turns), stale_possible=True)
    StrikeRounds(where, [partial(ClusterStrike, where, each, partial(connect_to, struck)) for each in turns], records).run()
    assert summary.anomalies.keys() - {Anomaly.OK} == wrong, summary.detail()
    assert summary.unknown > 0
    assert summary.outcome(claimed=True) is (Outcome.FAIL if wrong else Outcome.PASS)
