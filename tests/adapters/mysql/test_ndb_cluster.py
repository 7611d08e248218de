"""A real NDB Cluster on three hosts: the arbitrator lets one side go on, and a host that was lost copies everything."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from storeproof.contract import Layout, Refused, Unknown
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.store_under_test import StoreUnderTest
from tests.adapters.real_clusters import another_primary, missing, shown, under_test, write
from tests.network.network_rights import needs_networks
from tests.shipped import SHIPPED

NOT_HERE = missing("mysql-ndb", SHIPPED.store("mysql-ndb")[0].topologies["hosts"].services.values())
pytestmark = [needs_networks, pytest.mark.servers, pytest.mark.skipif(bool(NOT_HERE), reason=NOT_HERE)]


@pytest.fixture(scope="module")
def sut() -> StoreUnderTest:
    return under_test("mysql-ndb:three-hosts")


def test_an_isolated_host_acknowledges_nothing(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """Its data node ends, since it does not reach the arbitrator; the other one goes on. It comes back without any of these writes."""
    write(whole, sut, layout, "k", b"old")
    old = whole.primary()
    assert old == "n1"
    with closing(sut.connect(whole.node(old).address)) as session:
        at_old = session.collection(layout)
        whole.network.isolate(old)
        with pytest.raises((Refused, Unknown)):
            at_old.put("k", b"lost")  # type: ignore[attr-defined]
    another_primary(whole, old)
    write(whole, sut, layout, "k", b"new")
    with closing(sut.connect(whole.node(old).address)) as session, pytest.raises((Refused, Unknown)):
        session.collection(layout).put("k", b"lost too")  # type: ignore[attr-defined]
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "k") == [b"new"] * 3


def test_a_host_without_its_disk_gets_everything(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """The data from the other data node, and the tables from the cluster."""
    write(whole, sut, layout, "kept", b"value")
    whole.node("n1").kill()
    whole.node("n1").empty()
    another_primary(whole, "n1")
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "kept") == [b"value"] * 3


def test_a_clean_end_keeps_what_a_crash_of_all_hosts_would_lose(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """The log is synced every two seconds."""
    write(whole, sut, layout, "k", b"last")
    began = time.monotonic()
    whole.stop()
    assert time.monotonic() - began < 60
    whole.start()
    assert shown(whole, sut, layout, "k") == [b"last"] * 3
