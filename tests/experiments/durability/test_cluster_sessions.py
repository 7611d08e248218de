"""What clients see of their own writes through faults of a cluster in this process: a single copy passes, and what is not is caught."""

from __future__ import annotations

import re
from random import Random

import pytest

from storeproof.contract import Key, Layout, Record, Unknown
from storeproof.experiments.client import Client
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.workloads.session_clients import SessionClient
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.durability.workloads.sessions import Sessions
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.history import Recorder
from storeproof.launch.handle import RunningCluster
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.experiments import judged_again
from tests.experiments.durability.memory import Records, Session, Store
from tests.experiments.durability.memory_cluster import Kill, MemoryCluster, NodeStore, subject
from tests.shipped import SHIPPED

SCALE = DurabilityScale.model_construct(rounds=1, clients=4, load_seconds=(0.01, 0.03))
LAYOUT = Layout("c_values", SHIPPED.models["single_key"])


class Lag(Kill):
    """With a lag, until both clients that follow the primary have written what the others do not have."""

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        assert isinstance(cluster, MemoryCluster)
        cluster.network.slow(node, {})
        here, *others = (cluster.stores[name].memory[LAYOUT.name] for name in sorted(cluster.nodes, key=lambda name: name != node))
        own = ["session1:0", "session1:1"]
        wait_until(lambda: all(here.get(key) != other.get(key) for key in own for other in others), 60, 0.01)
        super().strike_node(cluster, node)


class Fenced(Session):
    """A node that is cut off answers no read."""

    def collection(self, layout: Layout) -> Records:
        return Asking(self, layout)


class Asking(Records):
    def get(self, key: Key) -> Record | None:
        assert isinstance(self._store, NodeStore)
        with self._store.lock:
            if self._store.name in self._store.cluster.apart:
                raise Unknown("not confirmed by a majority")
            return self._open().get(key)


class LateCluster(MemoryCluster):
    """Replicas show a write when the next one arrives."""

    def copy(self, source: NodeStore, name: str, key: Key, record: Record | None) -> int:
        waiting = self.__dict__.setdefault("waiting", [])
        waiting.append((name, key, record))
        for each in self.hearing(source):
            with each.lock:
                for late in waiting[-6:-3]:
                    Store.stored(each, *late)
        return len(self.hearing(source))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real cluster needs seconds for, this one does sooner."""
    for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
        monkeypatch.setattr(cluster_strike, name, 0.4)


def struck(cluster: MemoryCluster, fault: ClusterFault, session: type[Session] = Session) -> SessionSummary:
    """A round."""
    summary = SessionSummary()
    where = subject(cluster, session=session)
    strike = ClusterStrike(where, fault, lambda address: session(cluster.stores[address.host]))
    judged_again.run(StrikeRounds(where, [lambda: strike], Sessions(where, LAYOUT, SCALE, summary)))
    return summary


@pytest.mark.parametrize("fault", [IsolatePrimary(), Kill()], ids=["isolate", "kill"])
def test_a_cluster_that_is_a_single_copy_raises_no_alarm(fault: ClusterFault) -> None:
    """Clients go on at the new primary, and see there what they wrote and read at the old one."""
    summary = struck(MemoryCluster(synchronous=True), fault, Fenced)
    assert (summary.wrong, summary.unexplained) == ([], [])
    assert summary.strikes == {fault.name: 1}
    assert min(summary.reads[way] for way in ("following", "spread", "tied")) > 0
    assert "each client saw its own writes, and never less than before" in summary.detail()
    assert summary.outcome(claimed=True) is Outcome.PASS


def test_clients_that_follow_the_primary_notice_what_it_lost() -> None:
    """It acknowledged alone: after the failover they do not find what they wrote, though they never read elsewhere."""
    summary = struck(MemoryCluster(synchronous=False), Lag())
    assert summary.forgotten["following"] > 0
    assert summary.wrong_rounds == {"kill": 1}
    assert "which it had written" in summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_an_old_primary_that_answers_reads_takes_tied_clients_back() -> None:
    """It acknowledges nothing: what they had read at another node, it does not have."""
    summary = struck(MemoryCluster(synchronous=True), IsolatePrimary())
    assert summary.back["tied"] > 0
    assert "which it had read" in summary.detail()
    assert summary.forgotten["following"] == summary.back["following"] == 0
    (course,) = summary.cluster_rounds
    assert course.struck in {each.node for each in course.spans if each.lost}
    assert course.acknowledged == summary.reads.total()
    assert any(
        re.search(r"tied client .*, which it had read; that was answered by n\d at .* s, and this by n\d at \+", each)
        for each in course.wrong
    )


def test_replicas_that_are_late_forget_what_spread_clients_wrote() -> None:
    """Those that read only where they write notice nothing before the failover."""
    summary = struck(LateCluster(synchronous=True), Kill(), Fenced)
    assert summary.forgotten["spread"] > 0


def test_what_was_never_written_is_a_failure_without_a_claim() -> None:
    """Another client's record under the key."""

    class Swapping(Asking):
        def get(self, key: Key) -> Record | None:
            found = super().get(key)
            return b"1:1|" + bytes(found)[4:] if isinstance(found, bytes) and str(key).endswith(":0") else found

    class Swapped(Session):
        def collection(self, layout: Layout) -> Records:
            return Swapping(self, layout)

    summary = struck(MemoryCluster(synchronous=True), Kill(), Swapped)
    assert summary.unexplained
    assert "reads of what no acknowledged write explains" in summary.detail()
    assert summary.outcome(claimed=False) is Outcome.FAIL


def test_each_session_is_told_what_the_client_has_seen_in_the_other() -> None:
    """Before each request: a node that has less must not answer."""
    requests: list[str] = []

    class Told(Session):
        seen = 0

        def collection(self, layout: Layout) -> Records:
            self.seen = len(requests) + 1
            requests.append("")
            return super().collection(layout)

        def position(self) -> int:
            return self.seen

        def follow(self, position: int | None) -> None:
            followed.append(position)

    followed: list[int | None] = []
    store = Store()
    store.create(LAYOUT.name)
    here, there = Told(store), Told(store)
    client = Client(lambda: here, SessionClient(Recorder().client(), LAYOUT, "round", 1, Random(1), elsewhere=lambda: there))
    while len(requests) < 40:
        client.step()
    assert followed == [None, *range(1, 40)]
    assert here.seen != there.seen
