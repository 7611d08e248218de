"""Real clusters of the project's stores, and one round of a fault on them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from storeproof.contract import Layout, Unknown
from storeproof.errors import NotAvailable
from storeproof.experiments.contended_keys import REGISTER
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.workloads.cluster_records import ClusterRecords
from storeproof.experiments.durability.workloads.contended_cluster import ContendedCluster
from storeproof.experiments.durability.workloads.session_clients import MODEL
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.durability.workloads.sessions import Sessions
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.durability.workloads.transfers import Transfers
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.machine.programs import find_programs
from storeproof.spec.scale import DurabilityScale
from storeproof.spec.store import ProcessLaunch
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

LIMIT = 60
"""Seconds for another primary, on a busy machine."""


def missing(store: str, launches: Iterable[ProcessLaunch]) -> str:
    """Why there are no programs of a store's servers here; empty: there are."""
    try:
        for each in launches:
            find_programs(each, store)
    except NotAvailable as reason:
        return str(reason)
    return ""


def under_test(target: str) -> StoreUnderTest:
    """A variant of a shipped file."""
    (found,) = SHIPPED.targets([target])
    return StoreUnderTest(SHIPPED, found, Options(scale=SHIPPED.scales["smoke"], seed=1), lambda _: None)


@contextmanager
def launched(sut: StoreUnderTest) -> Iterator[ClusterHandle]:
    """Its cluster; the settings were read back from each node."""
    handle = sut.launch("a test")
    assert isinstance(handle, ClusterHandle)
    with closing(handle):
        yield handle


def one_round(cluster: ClusterHandle, sut: StoreUnderTest, fault: ClusterFault, scale: DurabilityScale) -> DurabilitySummary:
    """A fault, by clients of this variant."""
    subject = Subject(cluster, sut.connect, random.Random(1))
    layouts = layouts_of(sut, cluster, ("single_key",))
    turns, summary = scale.turns([fault]), DurabilitySummary()
    records = ClusterRecords(subject, layouts, scale, summary, len(turns), stale_possible=True)
    StrikeRounds(subject, [partial(ClusterStrike, subject, each, sut.connect) for each in turns], records).run()
    return summary


def check_parts(summary: DurabilitySummary, *, detects: bool = True) -> float:
    """That of the only round the parts of the failover were seen. `detects`: the store does it itself; else storeproof promotes. Returns
    when the loss was detected."""
    (record,) = summary.cluster_rounds
    parts = record.failover
    assert parts is not None
    assert parts.promoted_by == ("store" if detects else "storeproof")
    assert (parts.detected_second is not None) is detects
    moments = (record.strike_second, parts.detected_second, parts.elected_second, record.failover_second)
    known = [each for each in moments if each is not None]
    assert known == sorted(known)
    assert len(known) == 3 + detects
    return parts.detected_second or 0.0


def contended(cluster: ClusterHandle, sut: StoreUnderTest, fault: ClusterFault, scale: DurabilityScale) -> LinearizabilitySummary:
    """A fault, and what became of a contended register."""
    summary = LinearizabilitySummary(case="durability.linearizable/partition")
    subject, layouts = Subject(cluster, sut.connect, random.Random(1)), {REGISTER: sut.layout(REGISTER.model)}
    StrikeRounds(subject, [lambda: ClusterStrike(subject, fault, sut.connect)], ContendedCluster(subject, layouts, scale, summary)).run()
    return summary


def read_by_clients(cluster: ClusterHandle, sut: StoreUnderTest, fault: ClusterFault, scale: DurabilityScale) -> SessionSummary:
    """A fault, and what clients saw of their own writes and earlier reads."""
    summary = SessionSummary()
    subject, layout = Subject(cluster, sut.connect, random.Random(1)), sut.layout(MODEL)
    StrikeRounds(subject, [lambda: ClusterStrike(subject, fault, sut.connect)], Sessions(subject, layout, scale, summary)).run()
    return summary


def transferred(cluster: ClusterHandle, sut: StoreUnderTest, fault: ClusterFault, scale: DurabilityScale) -> TransferSummary:
    """A fault, and what became of transfers between accounts."""
    summary = TransferSummary()
    subject, layouts = Subject(cluster, sut.connect, random.Random(1)), {model: sut.layout(model) for model in (ENTRIES, ACCOUNTS)}
    StrikeRounds(subject, [lambda: ClusterStrike(subject, fault, sut.connect)], Transfers(subject, layouts, scale, summary)).run()
    return summary


def write(cluster: ClusterHandle, sut: StoreUnderTest, layout: Layout, key: str, value: bytes) -> None:
    """At the primary."""
    with closing(sut.connect(cluster)) as session:
        collection = session.collection(layout)
        collection.prepare()
        collection.put(key, value)  # type: ignore[attr-defined]


def shown(cluster: ClusterHandle, sut: StoreUnderTest, layout: Layout, key: str) -> list[bytes | None]:
    """What each node has."""
    found = []
    for name in cluster.nodes:
        with closing(sut.connect(cluster.node(name).address)) as session:
            found.append(session.collection(layout).get(key))  # type: ignore[attr-defined]
    return found


def another_primary(cluster: ClusterHandle, old: str) -> None:
    """Wait for it."""
    end = time.monotonic() + LIMIT
    while True:
        try:
            if cluster.primary() != old:
                return
        except Unknown:
            pass
        assert time.monotonic() < end, "no other node takes writes"
        time.sleep(0.05)
