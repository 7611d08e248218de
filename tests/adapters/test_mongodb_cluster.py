"""A real replica set of MongoDB: formed, struck and healed; writes with w: 1 are rolled back when an isolated primary comes back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from storeproof.experiments.durability.clusters import cluster_experiment
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.spec.scale import DurabilityScale
from tests.adapters.real_clusters import launched, one_round, under_test
from tests.network.network_rights import needs_networks

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("mongod") is None, reason="mongod is not installed: .ci/setup servers"),
]

ONE = DurabilityScale.model_construct(rounds=1, clients=2, load_seconds=(0.1, 0.1))
"""A single round: an isolated primary acknowledges writes for two seconds, and lost hundreds in every one."""


@pytest.fixture(scope="module")
def cluster(networks: None) -> Iterator[ClusterHandle]:
    """A cluster for all tests; its settings were read back from each node."""
    with launched(under_test("mongodb:three-members-linearizable")) as handle:
        yield handle


def test_what_each_session_asks_for_is_read_back(cluster: ClusterHandle) -> None:
    """The concerns go with every request; the server has no default that would do."""
    for variant, options in (
        ("three-members-linearizable", {"journal": "true", "w": "majority", "reads": "linearizable"}),
        ("three-members-w-1", {"journal": "false", "w": "1", "reads": "local"}),
    ):
        sut = under_test(f"mongodb:{variant}")
        sut._verify(cluster, {})
        assert {name: sut.record.settings[name] for name in options} == options


def test_writes_of_one_member_are_rolled_back(cluster: ClusterHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another member takes writes within the time of the topology, and the cluster becomes whole again, without those of the old one."""
    monkeypatch.setattr(cluster_experiment, "_SIDES_SECONDS", 0.2)
    monkeypatch.setattr(cluster_experiment, "_DEPOSED_SECONDS", 0.2)
    sut = under_test("mongodb:three-members-w-1")
    cluster.wait_whole()
    before = cluster.primary()
    summary = one_round(cluster, sut, IsolatePrimary(), ONE)
    assert summary.lossy == 1, summary.detail()
    assert summary.harmed > 20
    assert len(summary.failovers) == 1
    data = next(iter(cluster.node(before).servers.values())).data
    assert data is not None
    assert list(data.glob("rollback/*/*.bson")), "MongoDB keeps what it rolled back"
