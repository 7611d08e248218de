"""A real cluster of MariaDB with Galera: an isolated node refuses, one without its disk gets a copy, and all come back together."""

from __future__ import annotations

import shutil
import time
from contextlib import closing

import pytest

from storeproof.contract import Layout, Refused
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.store_under_test import StoreUnderTest
from tests.adapters.real_clusters import LIMIT, another_primary, shown, under_test, write
from tests.network.network_rights import needs_networks

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("wsrep_sst_rsync") is None, reason="Galera is not installed: apt-get install mariadb-server"),
]


@pytest.fixture(scope="module")
def sut() -> StoreUnderTest:
    return under_test("mariadb:galera")


def test_an_isolated_node_refuses_all_requests(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """Once it misses the others. What it refused was not done."""
    write(whole, sut, layout, "k", b"old")
    old = whole.primary()
    with closing(sut.connect(whole.node(old).address)) as session:
        at_old = session.collection(layout)
        whole.network.isolate(old)
        another_primary(whole, old)
        write(whole, sut, layout, "k", b"new")
        end = time.monotonic() + LIMIT
        while True:  # until it misses them, it answers from what it has
            try:
                assert at_old.get("k") == b"old"  # type: ignore[attr-defined]
            except Refused as refusal:
                assert "1047" in str(refusal)  # noqa: PT017 - the end of the loop
                break
            assert time.monotonic() < end
            time.sleep(0.05)
        with pytest.raises(Refused, match="1047"):
            at_old.put("k", b"lost")  # type: ignore[attr-defined]
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "k") == [b"new"] * 3


def test_a_node_without_its_disk_gets_a_copy(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """Though it is the first one, which begins a cluster where there is none."""
    write(whole, sut, layout, "kept", b"value")
    lost = whole.primary()
    whole.node(lost).kill()
    whole.node(lost).empty()
    another_primary(whole, lost)
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "kept") == [b"value"] * 3


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_nodes_that_ended_together_are_one_cluster_again(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout, end: str) -> None:
    """Nodes that were killed at the same moment find each other; of nodes that were stopped the last one begins."""
    write(whole, sut, layout, end, b"value")
    getattr(whole, end)()
    whole.start()
    assert shown(whole, sut, layout, end) == [b"value"] * 3
