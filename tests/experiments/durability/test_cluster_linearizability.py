"""Contended keys through faults of a cluster in this process: one that is a single copy passes, and one that is not is caught."""

from __future__ import annotations

from random import Random

import pytest

from storeproof import native_support
from storeproof.contract import Key, Layout, Record, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.client import Client
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.contended_keys import COUNTER, REGISTER, ContendedKey, ContendedKeys
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.strikes.round_clients import Paced
from storeproof.experiments.durability.workloads.contended_cluster import ContendedCluster
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.deaf_primary import DeafPrimary
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.faults.split_all import SplitAll
from storeproof.history import Recorder
from storeproof.launch.handle import RunningCluster
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.experiments import judged_again
from tests.experiments.durability.memory import Records, Session
from tests.experiments.durability.memory_cluster import Kill, MemoryCluster, NodeStore, subject
from tests.shipped import SHIPPED

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")

SCALE = DurabilityScale.model_construct(rounds=1, clients=4, load_seconds=(0.01, 0.03))
LAYOUTS = {each: Layout(f"c_{each.name}", SHIPPED.models[each.model]) for each in (REGISTER, COUNTER)}


class Lag(Kill):
    """With a lag, until a counter shows it: of what is lost there, no later write hides that it was acknowledged."""

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        assert isinstance(cluster, MemoryCluster)
        cluster.network.slow(node, {})
        here, *others = (cluster.stores[name].memory for name in sorted(cluster.nodes, key=lambda name: name != node))
        counters = LAYOUTS[COUNTER].name
        wait_until(lambda: all(other[counters] != here[counters] for other in others), 60, 0.01)
        super().strike_node(cluster, node)


class Fenced(Session):
    """Reads ask the others first, as `linearizable` does of MongoDB."""

    def collection(self, layout: Layout) -> Records:
        return Asking(self, layout)


class Asking(Records):
    """A node that is not the primary, or that no other hears, answers no read."""

    def get(self, key: Key) -> Record | None:
        assert isinstance(self._store, NodeStore)
        with self._store.lock:
            if self._store.follows or self._store.name in self._store.cluster.apart | self._store.cluster.deaf:
                raise Unknown("not confirmed by a majority")
            return self._open().get(key)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real cluster needs seconds for, this one does at once."""
    for name in ("_SIDES_SECONDS", "_DEPOSED_SECONDS", "_SURVIVORS_SECONDS"):
        monkeypatch.setattr(cluster_strike, name, 0.2)


def struck(cluster: MemoryCluster, fault: ClusterFault, session: type[Session] = Session) -> LinearizabilitySummary:
    """A round."""
    summary = LinearizabilitySummary(case="durability.linearizable/partition")
    where = subject(cluster, session=session)
    strike = ClusterStrike(where, fault, lambda address: session(cluster.stores[address.host]))
    judged_again.run(StrikeRounds(where, [lambda: strike], ContendedCluster(where, LAYOUTS, SCALE, summary)))
    return summary


class Split(SplitAll):
    """A shorter one, after which the same primary goes on."""

    lasts = 0.3


@pytest.mark.parametrize("fault", [IsolatePrimary(), DeafPrimary(), Split(), Kill()], ids=["isolate", "deaf", "split", "kill"])
def test_a_cluster_that_is_a_single_copy_raises_no_alarm(fault: ClusterFault) -> None:
    """Its writes wait for another node, and its reads too. What had no answer may have happened or not."""
    summary = struck(MemoryCluster(synchronous=True), fault, Fenced)
    assert (summary.wrong, summary.undone_reads, summary.undecided) == ([], [], [])
    assert summary.strikes == {fault.name: 1}
    assert summary.operations > 150
    assert summary.unknown > 0
    assert f"rounds that no order explains: {fault.name} 0 of 1; every key is linearizable" in summary.detail()
    assert summary.outcome(claimed=True) is Outcome.PASS


@pytest.mark.parametrize("fault", [IsolatePrimary(), Lag()], ids=["isolate", "lag"])
def test_a_cluster_that_acknowledges_first_is_caught(fault: ClusterFault) -> None:
    """What the old primary acknowledged is gone. It is a failure where it is claimed."""
    summary = struck(MemoryCluster(synchronous=False), fault, Fenced)
    assert summary.wrong
    assert f"rounds that no order explains: {fault.name} 1 of 1; not linearizable" in summary.detail()
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.outcome(claimed=False) is Outcome.UNSUPPORTED
    (record,) = summary.shown
    assert record.case == "durability.linearizable/partition"


def test_an_old_primary_that_still_answers_reads_is_caught() -> None:
    """It acknowledges no write that could be lost; clients that are tied to it read what was replaced."""
    summary = struck(MemoryCluster(synchronous=True), IsolatePrimary())
    assert summary.wrong_rounds == {"isolate_primary": 1}
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_a_client_whose_writes_get_no_answer_only_reads() -> None:
    """Each of them could have happened at any later time: with hundreds the search for an order never ends."""
    cluster = MemoryCluster(synchronous=True)
    cluster.stores["n1"].create("c_register")
    cluster.apart.add("n1")
    recorder = Recorder()
    key = ContendedKey(REGISTER, LAYOUTS[REGISTER], "key")
    tied = Client(lambda: Session(cluster.stores["n1"]), ContendedKeys(recorder.client(), [key], 60, Random(1), most_unknown=2), Paced())
    while tied.step():
        pass
    history = recorder.operations()
    assert len(history) == 60
    assert [each.action == "get" for each in history if each.outcome == "unknown"] == [False, False]


@pytest.mark.parametrize("ended", [False, True])
def test_a_cluster_that_gives_no_answers_says_nothing(ended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it is not whole again is judged by the guarantee itself; a server that ended by itself fails any case."""
    monkeypatch.setattr(cluster_strike, "machine_is_busy", lambda: "")

    class Parted(MemoryCluster):
        def wait_whole(self) -> None:
            if "healed" in self.deeds:
                self.stores["n3"].alive = not ended
                raise StoreDied("not whole within 15 s", "")

    with pytest.raises(StoreDied if ended else Unknown, match="not whole within 15 s"):
        struck(Parted(synchronous=True), IsolatePrimary(), Fenced)
