"""Real clusters of MySQL: a group elects another primary and refuses at the old one; replicas lose what only the old primary had."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from storeproof.contract import Layout, Refused, Unknown
from storeproof.faults.lagging_node_wipe import LaggingNodeWipe
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.spec.scale import DurabilityScale
from storeproof.store_under_test import StoreUnderTest
from tests.adapters.real_clusters import LIMIT, another_primary, launched, missing, one_round, shown, under_test, write
from tests.network.network_rights import needs_networks
from tests.shipped import SHIPPED

MYSQL = SHIPPED.store("mysql")[0].launch.process
assert MYSQL is not None
NOT_HERE = missing("mysql", [MYSQL])
pytestmark = [needs_networks, pytest.mark.servers, pytest.mark.skipif(bool(NOT_HERE), reason=NOT_HERE)]
ONE = DurabilityScale.model_construct(rounds=1, clients=4, load_seconds=(0.1, 0.1))
"""A single round."""


@pytest.fixture(scope="module")
def sut() -> StoreUnderTest:
    return under_test("mysql:group-replication")


def test_an_isolated_primary_acknowledges_nothing(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """A write waits for the group until the client gives up, or the member does: then what became of it is unknown. Later clients are not
    served, and the member comes back without any of their writes."""
    write(whole, sut, layout, "k", b"old")
    old = whole.primary()
    with closing(sut.connect(whole.node(old).address)) as session:
        at_old = session.collection(layout)
        whole.network.isolate(old)
        with pytest.raises(Unknown):
            at_old.put("k", b"lost")  # type: ignore[attr-defined]
    another_primary(whole, old)
    write(whole, sut, layout, "k", b"new")
    end = time.monotonic() + LIMIT
    while True:
        with closing(sut.connect(whole.node(old).address)) as session, pytest.raises((Refused, Unknown)) as failed:
            session.collection(layout).put("k", b"lost too")  # type: ignore[attr-defined]
        if "no online member" in str(failed.value):  # before that the record is locked by the one that waits
            break
        assert time.monotonic() < end
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "k") == [b"new"] * 3


def test_a_server_that_has_not_joined_again_serves_no_client(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """It knows nothing of what the group wrote meanwhile, and would answer reads by what it had; its operator is answered."""
    write(whole, sut, layout, "k", b"old")
    old = whole.primary()
    whole.node(old).kill()
    another_primary(whole, old)
    write(whole, sut, layout, "k", b"new")
    whole.node(old).start()
    with closing(sut.connect(whole.node(old).address)) as session, pytest.raises(Unknown, match="no online member of the group"):
        session.collection(layout)
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "k") == [b"new"] * 3


def test_a_node_without_its_disk_gets_everything(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout) -> None:
    """From the binary log of another member."""
    write(whole, sut, layout, "kept", b"value")
    lost = whole.primary()
    whole.node(lost).kill()
    whole.node(lost).empty()
    another_primary(whole, lost)
    whole.heal()
    whole.wait_whole()
    assert shown(whole, sut, layout, "kept") == [b"value"] * 3


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_members_that_ended_together_are_one_group_again(whole: ClusterHandle, sut: StoreUnderTest, layout: Layout, end: str) -> None:
    """The one that has the most begins it."""
    write(whole, sut, layout, end, b"value")
    getattr(whole, end)()
    whole.start()
    assert shown(whole, sut, layout, end) == [b"value"] * 3


@pytest.mark.parametrize(("variant", "loses"), [("replicas", True), ("replicas-semi-synchronous", False)])
def test_only_semi_synchronous_replicas_keep_what_a_lost_primary_acknowledged(networks: None, variant: str, loses: bool) -> None:
    """The others are a second behind it when it is gone."""
    sut = under_test(f"mysql:{variant}")
    with launched(sut) as replicas:
        summary = one_round(replicas, sut, LaggingNodeWipe(), ONE)
    assert (summary.rounds, summary.lossy) == (1, int(loses)), summary.detail()
    assert len(summary.failovers) == 1
