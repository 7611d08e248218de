"""A real replica set of MongoDB: formed, struck and healed; writes with w: 1 are rolled back when an isolated primary comes back."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator

import pytest

from storeproof.experiments.durability.clusters import cluster_rounds
from storeproof.experiments.durability.clusters.cluster_rounds import ClusterRounds
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.fault_experiment import Subject
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.spec.scale import DurabilityScale
from storeproof.store_under_test import Options, StoreUnderTest
from tests.network.network_rights import needs_networks
from tests.shipped import SHIPPED

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("mongod") is None, reason="mongod is not installed: .ci/setup servers"),
]

ONE = DurabilityScale.model_construct(rounds=1, clients=2, load_seconds=(0.1, 0.1))
"""A single round: an isolated primary acknowledges writes for two seconds, and lost hundreds in every one."""


def under_test(variant: str) -> StoreUnderTest:
    """A variant of the shipped file."""
    (target,) = SHIPPED.targets([f"mongodb:{variant}"])
    return StoreUnderTest(SHIPPED, target, Options(scale=SHIPPED.scales["smoke"], seed=1), lambda _: None)


@pytest.fixture(scope="module")
def cluster(networks: None) -> Iterator[ClusterHandle]:
    """A cluster for all tests; its settings were read back from each node."""
    handle = under_test("three-members-linearizable").launch("a test")
    assert isinstance(handle, ClusterHandle)
    yield handle
    handle.close()


def test_what_each_session_asks_for_is_read_back(cluster: ClusterHandle) -> None:
    """The concerns go with every request; the server has no default that would do."""
    for variant, options in (
        ("three-members-linearizable", {"journal": "true", "w": "majority", "reads": "linearizable"}),
        ("three-members-w-1", {"journal": "false", "w": "1", "reads": "local"}),
    ):
        sut = under_test(variant)
        sut._verify(cluster, {})
        assert {name: sut.record.settings[name] for name in options} == options


def test_writes_of_one_member_are_rolled_back(cluster: ClusterHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another member takes writes within the time of the topology, and the cluster becomes whole again, without those of the old one."""
    monkeypatch.setattr(cluster_rounds, "_SIDES_SECONDS", 0.2)
    monkeypatch.setattr(cluster_rounds, "_DEPOSED_SECONDS", 0.2)
    sut = under_test("three-members-w-1")
    cluster.wait_whole()
    before = cluster.primary()
    layouts = layouts_of(sut, cluster, ("single_key",))
    subject = Subject(cluster, sut.connect, random.Random(1))
    rounds = ClusterRounds(subject, [IsolatePrimary()], layouts, ONE, connect_to=sut.connect, stale_possible=True)
    rounds.run()
    summary = rounds.summary
    assert summary.lossy == 1, summary.detail()
    assert summary.harmed > 20
    assert len(summary.failovers) == 1
    data = next(iter(cluster.node(before).servers.values())).data
    assert data is not None
    assert list(data.glob("rollback/*/*.bson")), "MongoDB keeps what it rolled back"
