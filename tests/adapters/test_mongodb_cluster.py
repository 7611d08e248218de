"""A real replica set of MongoDB: formed, struck and healed; writes with w: 1 are rolled back when an isolated primary comes back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from storeproof import native_support
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.deaf_primary import DeafPrimary
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.adapters.real_clusters import check_parts, contended, launched, one_round, read_by_clients, transferred, under_test
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


@pytest.mark.parametrize("fault", [IsolatePrimary(), DeafPrimary()], ids=["isolate", "deaf"])
def test_writes_of_one_member_are_rolled_back(fault: ClusterFault, cluster: ClusterHandle, short: None) -> None:
    """Another member takes writes within the time of the topology, and the cluster becomes whole again, without those of the old one."""
    sut = under_test("mongodb:three-members-w-1")
    cluster.wait_whole()
    before = cluster.primary()
    summary = one_round(cluster, sut, fault, ONE)
    assert summary.lossy == 1, summary.detail()
    assert summary.harmed > 20
    assert len(summary.failovers) == 1
    (record,) = summary.cluster_rounds
    assert (record.struck, record.lost > 20) == (before, True)
    assert check_parts(summary) > 1, "an election begins two seconds after the last heartbeat, of which there is one each 0.4 s"
    # A secondary that still reads from the old primary when the network is healed may take its writes, and roll them back too.
    aside = {each.node: each for each in record.set_aside}
    assert before in aside, "MongoDB keeps what it rolled back"
    assert aside[before].records > 20
    assert aside[before].bytes > 1000


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
@pytest.mark.parametrize(
    ("variant", "outcome"),
    [("three-members-w-1", Outcome.FAIL), ("three-members-linearizable", Outcome.PASS)],
)
def test_one_member_that_is_said_to_be_linearizable_is_caught(variant: str, outcome: Outcome, cluster: ClusterHandle, short: None) -> None:
    """Both claim it, and one of them with `w: 1`: what it acknowledged while it was isolated no later read shows."""
    cluster.wait_whole()
    summary = contended(cluster, under_test(f"mongodb:{variant}"), IsolatePrimary(), ONE)
    assert summary.outcome(claimed=True) is outcome, summary.detail()
    assert summary.strikes == {"isolate_primary": 1}


@pytest.mark.parametrize(("variant", "keeps"), [("three-members-w-1", False), ("three-members-majority", True)])
def test_transfers_are_lost_whole_and_only_without_a_majority(variant: str, keeps: bool, cluster: ClusterHandle, short: None) -> None:
    """What an isolated primary acknowledged by itself it rolls back, each transaction as one."""
    cluster.wait_whole()
    summary = transferred(cluster, under_test(f"mongodb:{variant}"), IsolatePrimary(), ONE)
    assert summary.acknowledged >= 50
    assert summary.halves == []
    assert summary.outcome(claimed=True) is (Outcome.PASS if keeps else Outcome.FAIL), summary.detail()


@pytest.mark.parametrize(("variant", "keeps"), [("three-members-w-1", False), ("three-members-causal", True)])
def test_causally_consistent_sessions_never_miss_their_own_writes(variant: str, keeps: bool, cluster: ClusterHandle, short: None) -> None:
    """At a member that hears nothing they wait; a client without one reads there what it has replaced itself."""
    cluster.wait_whole()
    summary = read_by_clients(cluster, under_test(f"mongodb:{variant}"), IsolatePrimary(), ONE)
    assert min(summary.reads.values()) > 10
    assert summary.outcome(claimed=True) is (Outcome.PASS if keeps else Outcome.FAIL), summary.detail()
    assert bool(summary.forgotten["spread"]) is not keeps
