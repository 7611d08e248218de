"""A real cluster of Redis with Sentinel: formed, struck and healed; asynchronous replication loses what lagged behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
import redis

from storeproof.contract import Refused, Unknown
from storeproof.errors import SettingsMismatch
from storeproof.faults.lagging_node_wipe import LaggingNodeWipe
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.spec.scale import DurabilityScale
from tests.adapters.real_clusters import check_parts, launched, one_round, under_test
from tests.network.network_rights import needs_networks

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed: apt-get install redis-server"),
]

ONE = DurabilityScale.model_construct(rounds=1, clients=6, load_seconds=(0.1, 0.3))
"""A single round: at its lag of a second, asynchronous replication lost hundreds of writes in every one."""


WAITING = "redis:sentinel-wait-1"


@pytest.fixture(scope="module")
def cluster(networks: None) -> Iterator[ClusterHandle]:
    """A cluster for all tests: clients that wait for a replica and clients that do not find the same servers."""
    with launched(under_test(WAITING)) as handle:
        yield handle


def test_each_session_says_whether_it_waits_and_replicas_refuse_writes(whole: ClusterHandle) -> None:
    """The option is the variant's; it is read back with the settings."""
    sut = under_test(WAITING)
    sut._verify(whole, {})
    assert sut.record.settings == {"save": "", "appendonly": "no", "wait": "1"}
    layout = sut.layout("single_key")
    replica = next(name for name in whole.nodes if name != whole.primary())
    tied = sut.connect(whole.node(replica).address)
    try:
        with pytest.raises(Refused):
            tied.collection(layout).put("key", b"another")  # type: ignore[attr-defined]
    finally:
        tied.close()


def test_a_write_that_no_replica_has_is_unknown(whole: ClusterHandle) -> None:
    """It is there, and it was not acknowledged; reads go on."""
    sut = under_test(WAITING)
    primary = whole.primary()
    session = sut.connect(whole)
    try:
        collection = session.collection(sut.layout("single_key"))
        for name in whole.nodes:
            if name != primary:  # without its sentinel, which would not act for half a minute
                whole.node(name).servers["redis"].pause()
        with pytest.raises(Unknown, match="WAIT: 0 of 1 replicas have the write after 1000 ms"):
            collection.put("key", b"value")  # type: ignore[attr-defined]
        assert collection.get("key") == b"value"  # type: ignore[attr-defined]
    finally:
        session.close()


def test_a_node_with_other_settings_is_noticed(whole: ClusterHandle) -> None:
    """Not only the primary is asked."""
    replica = next(name for name in whole.nodes if name != whole.primary())
    address = whole.node(replica).address
    with redis.Redis(host=address.host, port=address.port) as client:
        client.config_set("appendonly", "yes")
        try:
            with pytest.raises(SettingsMismatch, match=f"appendonly of {replica}: expected 'no', found 'yes'"):
                under_test(WAITING)._verify(whole, {})
        finally:
            client.config_set("appendonly", "no")


def test_asynchronous_replication_loses_what_lagged_behind(whole: ClusterHandle) -> None:
    """Clients that do not wait lose it; another node takes writes within the time of the topology, and the cluster becomes whole again.

    That clients which wait lose nothing is likely, and no promise of Redis: it is no test.
    """
    sut = under_test("redis:sentinel")
    before = whole.primary()
    summary = one_round(whole, sut, LaggingNodeWipe(), ONE)
    assert summary.lossy == 1, summary.detail()
    assert summary.harmed > 20
    assert len(summary.failovers) == 1
    assert whole.primary() != before
    assert whole.timeouts() == {"down-after-milliseconds": "1000", "failover-timeout": "3000"}
    check_parts(summary)
