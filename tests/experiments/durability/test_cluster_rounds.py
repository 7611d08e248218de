"""The rounds on a cluster, whole, against one in this process: honest replication passes, each lie is caught."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from storeproof.check import Anomaly, Finding
from storeproof.contract import Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.client import under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clusters import alike
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.experiments.durability.strikes.round_clients import Persistent
from storeproof.experiments.durability.workloads.cluster_records import ClusterRecords
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.deaf_primary import DeafPrimary
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.outcome import Outcome
from storeproof.result.measured.cluster_round import ClusterRoundRecord, SetAside
from storeproof.result.needs.clusters import rounds_without_failover
from tests.experiments.durability.memory_cluster import MemoryCluster, NodeStore
from tests.experiments.durability.struck_cluster import LAYOUTS, ROUNDS, Lose, short, struck
from tests.experiments.test_client import Scripted, client

__all__ = ["short"]

FAULTS = [pytest.param(each, id=each.name) for each in (IsolatePrimary(), DeafPrimary(), Lose())]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_cluster_that_waits_for_a_replica_keeps_everything(fault: ClusterFault) -> None:
    """No false alarm; each failover has its time, and writes without a reply are unknown."""
    summary = struck(MemoryCluster(synchronous=True), fault)
    assert summary.harmed == 0, summary.detail()
    assert summary.acknowledged > 100
    assert summary.unknown > 0
    assert (summary.rounds, len(summary.failovers), summary.without_failover, summary.idle) == (ROUNDS, ROUNDS, 0, [])
    assert all(0 < each < 10 for each in summary.failovers)
    assert summary.outcome(claimed=True) is Outcome.PASS
    assert summary.outcome(claimed=False) is Outcome.UNDECLARED


@pytest.mark.parametrize("fault", FAULTS)
def test_a_cluster_that_acknowledges_first_loses_what_was_not_replicated(fault: ClusterFault) -> None:
    """In every round; by clients that are tied to the old primary, and by what it had not sent yet."""
    summary = struck(MemoryCluster(synchronous=False), fault)
    assert summary.lossy == ROUNDS, summary.detail()
    assert summary.anomalies[Anomaly.LOST] > 0
    assert summary.anomalies[Anomaly.INVENTED] == 0
    assert str(summary.costs[1]).startswith(f"fault 2, {fault.name}: ")
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.outcome(claimed=False) is Outcome.UNSUPPORTED


@pytest.mark.parametrize("possible", [True, False])
def test_stale_reads_are_counted_and_fail_where_they_are_not_possible(possible: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An isolated primary shows what the new one has replaced; nothing is lost, and its age is told."""
    monkeypatch.setattr(cluster_strike, "_SIDES_SECONDS", 0.5)
    summary = struck(MemoryCluster(synchronous=True), IsolatePrimary(), stale_possible=possible)
    assert (summary.harmed, summary.lossy) == (0, 0), summary.detail()
    assert "reads of one key, at the struck node and another: " in summary.detail()
    assert f"stale, in {ROUNDS} of {ROUNDS} rounds, by " in summary.detail()
    assert summary.outcome(claimed=True) is (Outcome.PASS if possible else Outcome.FAIL)
    assert bool(summary.findings) is not possible


def test_nodes_that_stay_unlike_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that keeps what it wrote while it was isolated: what a client reads depends on the node. Otherwise all are found alike."""
    monkeypatch.setattr(alike, "_SECONDS", 0.0)
    summary = struck(MemoryCluster(synchronous=True), IsolatePrimary())
    assert (summary.compared, summary.unlike) == (2 * ROUNDS, 0), summary.detail()

    class Stubborn(MemoryCluster):
        def heal(self) -> None:
            old = self.stores["n1"].memory
            super().heal()
            self.stores["n1"].memory = old

    summary = struck(Stubborn(synchronous=True), IsolatePrimary())
    assert summary.unlike > 0
    assert "fault 1, isolate_primary: " in str(summary.costs[0])
    assert "records of n1 stay unlike the primary's, first " in str(summary.costs[0])
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_a_client_that_is_tied_to_a_node_connects_again() -> None:
    """A primary that is paused for longer than clients wait for it goes on acknowledging when it wakes up."""
    strategy = Scripted(Unknown("no answer in time"))
    tied = client(strategy, Persistent())
    with under_load([tied]):
        wait_until(lambda: tied.acknowledged > 0, 10, 0.001)
    assert strategy.recorded[:2] == ["unknown", "ok"]
    assert strategy.sessions == 2


def test_faults_take_turns_and_the_detail_counts_them() -> None:
    """Each strikes in as many rounds as the scale has."""
    summary = struck(MemoryCluster(synchronous=True), IsolatePrimary(), Lose())
    assert summary.strikes == {"isolate_primary": ROUNDS, "lose": ROUNDS}
    assert f"({ROUNDS} isolate_primary, {ROUNDS} lose)" in summary.detail()
    assert "writes acknowledged by another node 0." in summary.detail()
    record = summary.record("partition", Outcome.PASS, "")
    assert (record.rounds, len(record.recovery_seconds)) == (2 * ROUNDS, 2 * ROUNDS)


def acknowledged(record: ClusterRoundRecord, node: str, phase: str) -> tuple[int, int, int]:
    """What a node acknowledged in a phase, what was found of it, and what is lost."""
    spans = [each for each in record.spans if (each.node, each.phase) == (node, phase)]
    return tuple(sum(getattr(each, name) for each in spans) for name in ("acknowledged", "found", "lost"))  # type: ignore[return-value]


def test_the_record_of_a_round_says_who_acknowledged_what_was_lost() -> None:
    """An isolated primary goes on acknowledging, which is lost; what was written before and at the new one is not."""
    summary = struck(MemoryCluster(synchronous=False), IsolatePrimary())
    assert len(summary.cluster_rounds) == ROUNDS
    first = summary.cluster_rounds[0]
    assert (first.fault, first.nodes, first.struck, first.successor, first.primary) == (
        "isolate_primary",
        ["n1", "n2", "n3"],
        "n1",
        "n2",
        "n2",
    )
    number, found, lost = acknowledged(first, "n1", "during")
    assert number >= lost + found  # some were acknowledged in the moment of the fault
    assert lost > 0
    assert acknowledged(first, "n1", "before")[1] > 0
    number, found, lost = acknowledged(first, "n2", "during")
    assert number >= found > lost == 0
    assert first.began_second < first.strike_second <= 0 < (first.failover_second or 0) < (first.healed_second or 0) < first.ended_second
    assert first.failover_second == pytest.approx(summary.failovers[0], abs=0.01)
    record = summary.record("partition", Outcome.UNSUPPORTED, "")
    assert sum(bool(each.course) for each in record.cluster_rounds) == 1
    assert sum(each.acknowledged for each in record.cluster_rounds) <= record.acknowledged


def test_files_of_undone_writes_count_in_the_round_that_made_them(tmp_path: Path) -> None:
    """They stay where they are."""

    class Keeping(MemoryCluster):
        def set_aside(self) -> Mapping[str, Mapping[Path, int]]:
            return {name: dict.fromkeys(sorted(tmp_path.glob(f"{name}-*")), 3) for name in self.nodes}

        def heal(self) -> None:
            number = len(list(tmp_path.iterdir()))
            (tmp_path / f"n1-{number}").write_bytes(b"12345" * (number + 1))
            super().heal()

    rounds = struck(Keeping(synchronous=False), IsolatePrimary()).cluster_rounds
    assert [each.set_aside for each in rounds] == [
        [SetAside(node="n1", files=1, bytes=5, records=3)],
        [SetAside(node="n1", files=1, bytes=10, records=3)],
    ]


def test_the_record_of_a_lost_node_ends_with_the_load() -> None:
    """What it acknowledged while it lagged is lost, and what was written before is not."""
    first = struck(MemoryCluster(synchronous=False), Lose()).cluster_rounds[0]
    assert acknowledged(first, "n1", "during")[2] > 0
    assert acknowledged(first, "n1", "before")[2] == 0
    assert (first.healed_second, [each for each in first.spans if each.phase == "after"]) == (None, [])


def test_what_is_missing_while_the_node_is_gone_counts() -> None:
    """Also if it is there again once the node was replaced."""

    class Hiding(MemoryCluster):
        def elect(self, candidates: Sequence[str]) -> str:
            chosen = super().elect(candidates)
            store = self.stores[chosen]
            self.hidden = {name: dict(records) for name, records in store.memory.items()}
            store.memory = {name: {} for name in store.memory}
            return chosen

        def heal(self) -> None:
            main = self.stores[self._primary]
            main.memory = {name: {**self.hidden[name], **records} for name, records in main.memory.items()}
            super().heal()

    summary = struck(Hiding(synchronous=True), Lose())
    assert summary.anomalies[Anomaly.LOST] > 20, "at the second look all but the newest would be there"
    assert summary.lossy == ROUNDS


def test_what_is_missing_once_the_node_was_replaced_counts() -> None:
    """A supervisor starts it again with its empty disk, and the others copy it."""

    class Overwriting(MemoryCluster):
        def heal(self) -> None:
            for name, store in self.stores.items():
                if not store.alive:
                    self._primary = name
                    store.follows, store.alive = False, True
            super().heal()

    summary = struck(Overwriting(synchronous=True), Lose())
    assert summary.anomalies[Anomaly.LOST] > 20
    assert summary.gone == set(LAYOUTS)


def test_a_failover_to_the_emptiest_is_caught() -> None:
    """It waited for one replica, and promotes the other."""

    class Half(MemoryCluster):
        def hearing(self, source: NodeStore) -> list[NodeStore]:
            return [each for each in super().hearing(source) if each.name != "n3"]

        def elect(self, candidates: Sequence[str]) -> str:
            return candidates[-1]

    summary = struck(Half(synchronous=True), Lose())
    assert summary.anomalies[Anomaly.LOST] > 0
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_without_a_failover_a_partition_loses_nothing_and_a_lost_node_everything() -> None:
    """Availability is a number; but what no node serves is lost."""

    class Stubborn(MemoryCluster):
        settle_seconds = 0

        def primary(self) -> str:
            if not self.stores[self._primary].alive:
                raise Unknown("no node is the primary")
            return self._primary

    summary = struck(Stubborn(synchronous=False), IsolatePrimary())
    assert (summary.without_failover, summary.harmed) == (ROUNDS, 0)
    assert f"no other node took writes in time: {ROUNDS} times" in summary.detail()
    assert rounds_without_failover(summary.record("partition", Outcome.PASS, summary.detail())) == ROUNDS
    assert summary.outcome(claimed=True) is Outcome.PASS
    lost = struck(Stubborn(synchronous=False), Lose())
    assert lost.rounds == 1
    assert "with n1 gone, no other node acknowledged a write within 0 s (the others name no other primary)" in lost.broken
    assert lost.outcome(claimed=True) is Outcome.FAIL
    assert lost.outcome(claimed=False) is Outcome.UNSUPPORTED


def test_what_survived_one_fault_must_survive_the_next() -> None:
    """A round reads the keys of its own clients, and the last one those of all."""

    class Forgetful(MemoryCluster):
        def heal(self) -> None:
            super().heal()
            if self.deeds.count("healed") == ROUNDS:
                for store in self.stores.values():
                    for records in store.memory.values():
                        for key in [each for each in records if str(each).startswith("p1:")]:
                            del records[key]

    summary = struck(Forgetful(synchronous=True), IsolatePrimary())
    assert summary.anomalies[Anomaly.LOST] > 0
    assert all(str(cost).startswith(f"fault {ROUNDS}, ") for cost in summary.costs)
    first, last = summary.cluster_rounds
    assert first.lost == 0
    assert last.acknowledged > 0


class Parted(MemoryCluster):
    """Never whole again."""

    def wait_whole(self) -> None:
        super().wait_whole()
        if "healed" in self.deeds:
            raise StoreDied("the cluster was not whole within 15 s (n1 does not follow n2)", "")


def test_a_cluster_that_is_never_whole_again_breaks_the_promise() -> None:
    """And nothing more than that, as long as all of its servers run."""
    summary = struck(Parted(synchronous=True), IsolatePrimary())
    assert summary.rounds == 1
    assert "n1 does not follow n2" in summary.broken
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.outcome(claimed=False) is Outcome.UNSUPPORTED


def test_on_a_busy_machine_it_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The round is spoiled; the servers may have had no time."""
    monkeypatch.setattr(cluster_strike, "machine_is_busy", lambda: "load 9 on 2 cores")
    summary = DurabilitySummary()
    with pytest.raises(MachineFailed, match=r"n1 does not follow n2.*on a busy machine \(load 9 on 2 cores\)"):
        struck(Parted(synchronous=True), IsolatePrimary(), summary=summary)
    assert (summary.rounds, summary.broken) == (0, "")


def test_a_node_that_ended_by_itself_is_a_failure_without_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of any server, and on any machine."""

    class Dying(MemoryCluster):
        def wait_whole(self) -> None:
            super().wait_whole()
            if "healed" in self.deeds:
                self.stores["n3"].alive = False
                raise StoreDied("n3 ended with exit status 1", "")

    monkeypatch.setattr(cluster_strike, "machine_is_busy", lambda: "load 9 on 2 cores")
    summary = struck(Dying(synchronous=True), IsolatePrimary())
    assert summary.outcome(claimed=False) is Outcome.FAIL


class Leaderless(MemoryCluster):
    """When its primary is lost another node ends too, and no one takes over."""

    settle_seconds = 0
    cause: Exception | None = None

    def fail_over(self) -> None:
        self.stores["n2"].alive, self.stores["n2"].cause = False, self.cause


def test_a_survivor_that_was_killed_from_outside_spoils_the_round() -> None:
    """The store is not to blame for a failover that it could not make; it is if the survivor ended by itself."""
    cluster = Leaderless(synchronous=True)
    cluster.cause = MachineFailed("the kernel's out-of-memory killer has ended n2")
    with pytest.raises(MachineFailed, match="out-of-memory"):
        struck(cluster, Lose())
    summary = struck(Leaderless(synchronous=True), Lose())
    assert summary.broken == "n2 ended by itself"
    assert summary.outcome(claimed=False) is Outcome.FAIL


def test_no_answer_while_a_node_is_gone_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the node does not run is the fault's deed, and no failure of the store."""

    def lost(*_: object, **__: object) -> list[Finding]:
        raise Unknown("the reply was lost")

    monkeypatch.setattr(ClusterRecords, "_read_back", lost)
    summary = DurabilitySummary()
    with pytest.raises(Unknown, match="the reply was lost"):
        struck(MemoryCluster(synchronous=True), Lose(), summary=summary)
    assert (summary.rounds, summary.broken) == (0, "")


def test_another_primary_before_the_fault_spoils_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients are tied to the wrong node, and the time of the failover would be that of nothing."""
    cluster = MemoryCluster(synchronous=True)
    monkeypatch.setattr(ClusterRecords, "_wait_for_writes", lambda _: setattr(cluster, "_primary", "n2"))
    with pytest.raises(Unknown, match="before the fault n2 took the place of n1"):
        struck(cluster, IsolatePrimary())


def test_a_loss_that_was_seen_counts_whatever_the_machine_does_next() -> None:
    """The round is repeated, and what it showed stays."""

    class Spoiled(MemoryCluster):
        def heal(self) -> None:
            raise MachineFailed("the network could not be changed: tc")

    summary = DurabilitySummary()
    with pytest.raises(MachineFailed):
        struck(Spoiled(synchronous=False), Lose(), summary=summary)
    assert summary.rounds == 0
    struck(MemoryCluster(synchronous=True), Lose(), summary=summary)
    assert (summary.rounds, summary.lossy) == (ROUNDS, 1)
    assert summary.outcome(claimed=True) is Outcome.FAIL


def test_a_round_that_the_machine_spoils_does_not_count() -> None:
    """It is repeated on another cluster; what was done so far stays."""

    class Spoiled(MemoryCluster):
        def heal(self) -> None:
            if self.deeds.count("healed") == 1:
                raise MachineFailed("the network could not be changed: tc")
            super().heal()

    summary = DurabilitySummary()
    with pytest.raises(MachineFailed):
        struck(Spoiled(synchronous=True), IsolatePrimary(), summary=summary)
    assert (summary.rounds, summary.strikes, len(summary.cluster_rounds)) == (1, {"isolate_primary": 1}, 1)
    struck(MemoryCluster(synchronous=True), IsolatePrimary(), summary=summary)
    assert (summary.rounds, summary.strikes) == (ROUNDS, {"isolate_primary": ROUNDS})
    assert summary.outcome(claimed=True) is Outcome.PASS
