"""A real replica set of Tarantool: formed, struck and healed; only synchronous spaces keep what was acknowledged."""

from __future__ import annotations

import shutil
from contextlib import closing, suppress

import pytest

from storeproof.contract import Layout, Refused, Unknown
from storeproof.faults.lagging_node_wipe import LaggingNodeWipe
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from storeproof.store_under_test import StoreUnderTest
from tests.adapters.real_clusters import one_round, under_test
from tests.network.network_rights import needs_networks

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("tarantool") is None, reason="tarantool is not installed: apt-get install tarantool"),
]

ATTEMPTS = 5
ONE = DurabilityScale.model_construct(rounds=1, clients=4, load_seconds=(0.1, 0.1))
"""A single round: at its lag of a second, asynchronous replication lost thousands of writes in every one."""


@pytest.fixture(scope="module")
def sut() -> StoreUnderTest:
    return under_test("tarantool:three-instances-sync")


def put(cluster: ClusterHandle, sut: StoreUnderTest, layout: Layout, value: bytes) -> None:
    """Write to the primary until it acknowledges: 2.6.0 lets a synchronous write of a healthy replica set time out now and then."""
    for _ in range(ATTEMPTS):
        with suppress(Unknown), closing(sut.connect(cluster)) as session:
            session.collection(layout).put("key", value)  # type: ignore[attr-defined]
            return
    pytest.fail(f"{ATTEMPTS} writes in a row were not acknowledged")


def test_spaces_are_synchronous_and_replicas_refuse_writes(whole: ClusterHandle, sut: StoreUnderTest) -> None:
    """The option is the variant's; it is read back with the settings."""
    sut._verify(whole, {})
    assert sut.record.settings["commits"] == "synchronous"
    layout = sut.layout("single_key")
    with closing(sut.connect(whole)) as session:
        session.collection(layout).prepare()
    whole.wait_whole()
    replica = next(name for name in whole.nodes if name != whole.primary())
    with closing(sut.connect(whole.node(replica).address)) as tied, pytest.raises(Refused, match="read-only"):
        tied.collection(layout).put("key", b"another")  # type: ignore[attr-defined]


def test_an_isolated_primary_acknowledges_nothing_and_gets_a_copy(whole: ClusterHandle, sut: StoreUnderTest) -> None:
    """Its write finds no quorum and is rolled back, which is in its log: its data is no longer that of the others."""
    layout = sut.layout("single_key")
    with closing(sut.connect(whole)) as session:
        session.collection(layout).prepare()
    put(whole, sut, layout, b"old")
    whole.wait_whole()
    old = whole.primary()
    with closing(sut.connect(whole.node(old).address)) as tied:
        whole.network.isolate(old)
        whole.fail_over()
        assert whole.primary() != old
        put(whole, sut, layout, b"new")
        with pytest.raises(Unknown, match="Quorum collection for a synchronous transaction is timed out"):
            tied.collection(layout).put("key", b"lost")  # type: ignore[attr-defined]
    started = whole.node(old).pids
    whole.heal()
    whole.wait_whole()
    assert whole.node(old).pids != started
    for name in whole.nodes:
        with closing(sut.connect(whole.node(name).address)) as session:
            assert session.collection(layout).get("key") == b"new"  # type: ignore[attr-defined]


def test_asynchronous_replication_that_claims_to_survive_a_lost_node_is_caught(whole: ClusterHandle) -> None:
    """Another instance is promoted and takes writes; the one that lost its disk copies it, and the replica set is whole again."""
    before = whole.primary()
    summary = one_round(whole, under_test("tarantool:three-instances"), LaggingNodeWipe(), ONE)
    assert summary.lossy == 1, summary.detail()
    assert summary.harmed > 20
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert len(summary.failovers) == 1
    assert whole.primary() != before
