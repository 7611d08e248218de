"""A real primary of PostgreSQL with two standbys: formed, struck and healed; without synchronous commits it loses what lagged behind."""

from __future__ import annotations

import shutil
import threading

import pytest

from storeproof.adapters.postgresql.asking import ask
from storeproof.contract import Unknown
from storeproof.faults.lagging_node_wipe import LaggingNodeWipe
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.spec.scale import DurabilityScale
from storeproof.store_under_test import StoreUnderTest
from tests.adapters.real_clusters import check_parts, one_round, under_test
from tests.launch.small import eventually
from tests.network.network_rights import needs_networks

pytestmark = [
    needs_networks,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("postgres") is None, reason="postgres is not on the PATH: apt-get install postgresql"),
]

ONE = DurabilityScale.model_construct(rounds=1, clients=4, load_seconds=(0.1, 0.1))
"""A single round: at its lag of a second, asynchronous replication lost writes in every one."""
WAITS = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@pytest.fixture(scope="module")
def sut() -> StoreUnderTest:
    return under_test("postgresql:standbys-local")


def test_a_write_whose_wait_for_a_standby_was_cancelled_is_unknown(whole: ClusterHandle, sut: StoreUnderTest) -> None:
    """The server calls it a success, with a warning. It is there; what comes after it is another matter."""
    session = sut.connect(whole)
    collection = session.collection(sut.layout("single_key"))
    collection.prepare()
    session._link.run("SET synchronous_commit = 'on'")  # type: ignore[attr-defined]
    primary = whole.node(whole.primary()).address
    for name in whole.nodes:
        if name != whole.primary():
            whole.node(name).pause()
    failures: list[BaseException] = []

    def write() -> None:
        try:
            collection.put("key", b"value")  # type: ignore[attr-defined]
        except Unknown as failure:
            failures.append(failure)

    writing = threading.Thread(target=write)
    writing.start()
    assert eventually(lambda: ask(primary, WAITS, 1.0) == [("1",)], 60)
    writing.join(60)
    try:
        assert [str(failure) for failure in failures] == ["canceling wait for synchronous replication due to user request"]
        assert collection.get("key") == b"value"  # type: ignore[attr-defined]
    finally:
        session.close()


def test_asynchronous_replication_loses_what_lagged_behind(whole: ClusterHandle, sut: StoreUnderTest) -> None:
    """Another node is promoted and takes writes; the one that lost its disk gets a copy, and the cluster is whole again."""
    before = whole.primary()
    summary = one_round(whole, sut, LaggingNodeWipe(), ONE)
    assert summary.lossy == 1, summary.detail()
    assert summary.harmed > 20
    assert len(summary.failovers) == 1
    assert whole.primary() != before
    check_parts(summary, detects=False)
