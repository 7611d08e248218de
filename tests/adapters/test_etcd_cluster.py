"""A real cluster of etcd: what an isolated leader answers, and how a member that has lost its disk comes back."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from storeproof import native_support
from storeproof.adapters.etcd.link import Link
from storeproof.contract import Address, Unknown
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.adapters.real_clusters import contended, launched, under_test
from tests.network.network_rights import needs_networks

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("etcd") is None, reason="etcd is not installed: apt-get install etcd-server"),
]
VARIANTS = {"linearizable": "three-members", "serializable": "three-members-serializable"}
ONE = DurabilityScale.model_construct(rounds=1, clients=2, load_seconds=(0.1, 0.1))
"""A single round: an isolated leader answered reads of its own state with old values in every one."""
LIMIT = 60
"""Seconds for an election, on a busy machine."""


@pytest.fixture(scope="module")
def cluster(networks: None) -> Iterator[ClusterHandle]:
    """A cluster for all tests; its settings were read back from each node."""
    with launched(under_test("etcd:three-members")) as handle:
        yield handle


def id_at(address: Address) -> str:
    """The id under which the member there belongs to its cluster."""
    with closing(Link(address)) as link:
        return str(link.ask("maintenance/status")["header"]["member_id"])


def another_primary(cluster: ClusterHandle, old: str) -> str:
    """The new leader, once there is one."""
    end = time.monotonic() + LIMIT
    while True:
        try:
            if (now := cluster.primary()) != old:
                return now
        except Unknown:
            pass
        assert time.monotonic() < end, "no other leader"
        time.sleep(0.05)


def test_an_isolated_leader_acknowledges_nothing_and_only_serializable_reads_are_stale(whole: ClusterHandle) -> None:
    """Its own state is an old one; for anything else it needs a majority. What it did not acknowledge is not known to be lost."""
    asked = {reads: under_test(f"etcd:{variant}") for reads, variant in VARIANTS.items()}
    layout = asked["linearizable"].layout("single_key")
    old = whole.primary()
    sessions = {reads: sut.connect(whole.node(old).address) for reads, sut in asked.items()}
    at_old = {reads: session.collection(layout) for reads, session in sessions.items()}
    try:
        at_old["linearizable"].put("k", b"old")  # type: ignore[attr-defined]
        whole.network.isolate(old)
        new = another_primary(whole, old)
        with closing(asked["linearizable"].connect(whole.node(new).address)) as session:
            session.collection(layout).put("k", b"new")  # type: ignore[attr-defined]
        assert at_old["serializable"].get("k") == b"old"  # type: ignore[attr-defined]
        with pytest.raises(Unknown):
            at_old["linearizable"].get("k")  # type: ignore[attr-defined]
        with pytest.raises(Unknown):
            at_old["linearizable"].put("k", b"lost")  # type: ignore[attr-defined]
    finally:
        for session in sessions.values():
            session.close()


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
@pytest.mark.parametrize(("reads", "outcome"), [("serializable", Outcome.FAIL), ("linearizable", Outcome.PASS)])
def test_a_member_that_serves_old_reads_and_is_said_to_be_linearizable_is_caught(
    reads: str, outcome: Outcome, whole: ClusterHandle, short: None
) -> None:
    """Both claim it; one of them reads what the member has, which no longer hears what the others agree on."""
    summary = contended(whole, under_test(f"etcd:{VARIANTS[reads]}"), IsolatePrimary(), ONE)
    assert summary.outcome(claimed=True) is outcome, summary.detail()
    assert summary.strikes == {"isolate_primary": 1}


def test_a_member_without_its_disk_comes_back_under_another_id(whole: ClusterHandle) -> None:
    """The others must forget it first: it has forgotten what it promised them. It then has all data."""
    sut = under_test("etcd:three-members-serializable")
    layout = sut.layout("single_key")
    lost = whole.primary()
    node = whole.node(lost)
    before = id_at(node.address)
    with closing(sut.connect(node.address)) as session:
        session.collection(layout).put("kept", b"value")  # type: ignore[attr-defined]
    node.kill()
    node.empty()
    another_primary(whole, lost)
    whole.heal()
    whole.wait_whole()
    assert id_at(node.address) != before
    with closing(sut.connect(node.address)) as session:
        assert session.collection(layout).get("kept") == b"value"  # type: ignore[attr-defined]
