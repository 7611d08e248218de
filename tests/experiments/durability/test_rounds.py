"""The rounds, whole, against a store in this process: an honest one passes, each lie is caught and called by its name."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from storeproof.check import Anomaly, Shape
from storeproof.contract import Breach, Key, Layout, Record, Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.outcome import Outcome
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory import Handle, Store, subject
from tests.experiments.durability.servers.struck_records import struck
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
SCALE = DurabilityScale(rounds=5, clients=4, load_seconds=(0.02, 0.06))


def strike(store: Store, fault: str = "process_kill", *, second: bool = True, scale: DurabilityScale = SCALE) -> DurabilitySummary:
    """All rounds; the seed is fixed, the threads' timing is not."""
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "hash10", "nested", "row", "counter")}
    return struck(subject(Handle(store)), fault, layouts, scale, second=second)


@pytest.mark.parametrize("fault", ["process_kill", "clean_restart"])
def test_an_honest_store_keeps_everything(fault: str) -> None:
    """No false alarm, in either shape, also when it is struck again while it recovers."""
    summary = strike(Store(), fault)
    assert summary.harmed == 0, summary.detail()
    assert summary.acknowledged > 1000
    assert summary.outcome(claimed=True) is Outcome.PASS
    assert summary.outcome(claimed=False) is Outcome.UNDECLARED


def test_both_shapes_are_tried_in_every_round_of_a_sudden_fault() -> None:
    """Five streams and five bursts; each with the time that recovery took."""
    summary = strike(Store())
    assert (summary.streams, summary.bursts, len(summary.recoveries)) == (5, 5, 10)


def test_a_store_that_is_asked_to_stop_gets_no_burst() -> None:
    """It is told: no moment is worse than another."""
    summary = strike(Store(), "clean_restart")
    assert (summary.streams, summary.bursts) == (5, 0)


def test_what_a_store_answers_that_has_lost_its_disk_is_unknown() -> None:
    """Redis with a second's delay goes on in memory after the cut: what it acknowledges then was never at risk."""
    summary = strike(Store(), "power_cut")
    assert summary.harmed == 0, summary.detail()
    assert summary.unknown > 5 * SCALE.clients, "the clients were answered after the cut"
    assert summary.outcome(claimed=True) is Outcome.PASS


def test_a_store_that_writes_late_loses_its_tail_in_a_power_cut() -> None:
    """On the last acknowledgement of a burst nothing has been answered after the cut: all that is missing counts."""
    summary = strike(Late(), "power_cut")
    assert summary.anomalies[Anomaly.LOST] > 0
    assert summary.outcome(claimed=True) is Outcome.FAIL


class Volatile(Store):
    """Keeps nothing, not even its collections."""

    def flush(self, name: str, key: Key) -> None:
        pass

    def recover(self) -> None:
        self.memory = {}


def test_a_store_that_keeps_nothing_loses_everything_and_that_is_no_error_of_ours() -> None:
    """Also its collections are gone; they are made again for the next round."""
    summary = strike(Volatile(), "clean_restart")
    assert set(summary.anomalies) <= {Anomaly.LOST, Anomaly.MISCOUNTED, Anomaly.OK}
    assert summary.anomalies[Anomaly.LOST] > 100
    assert summary.gone == {"single_key", "hash10", "nested", "row", "counter"}
    assert {each.shape for each in summary.losses} == {Shape.SUFFIX}
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert summary.outcome(claimed=False) is Outcome.UNSUPPORTED
    assert "the collections themselves were missing" in summary.detail()


class Late(Store):
    """Writes to disk a hundred operations late, unless it is asked to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[tuple[str, Key, Record | None]] = []

    def flush(self, name: str, key: Key) -> None:
        self.waiting.append((name, key, self.memory[name].get(key)))
        while len(self.waiting) > 100:
            self.write()

    def write(self) -> None:
        """The oldest one reaches the disk."""
        name, key, record = self.waiting.pop(0)
        if record is None:
            self.disk[name].pop(key, None)
        else:
            self.disk[name][key] = record

    def end(self, *, clean: bool) -> None:
        super().end(clean=clean)
        with self.lock:
            while clean and self.waiting:
                self.write()
            self.waiting.clear()


def test_a_late_store_loses_a_tail_when_it_is_killed() -> None:
    """Every burst is shorter than what it holds back, so no luck of timing hides it; the tail is a suffix."""
    summary = strike(Late())
    assert summary.anomalies[Anomaly.LOST] > 0
    assert summary.outcome(claimed=True) is Outcome.FAIL
    assert {each.shape for each in summary.losses} == {Shape.SUFFIX}
    assert "first: " in summary.detail()


def test_a_late_store_keeps_everything_when_it_is_asked_to_stop() -> None:
    """The two rungs differ."""
    assert strike(Late(), "clean_restart").outcome(claimed=True) is Outcome.PASS


class Amnesic(Store):
    """Forgets one record in a hundred, at random: holes."""

    def recover(self) -> None:
        super().recover()
        chance = random.Random(self.generation)
        for records in self.memory.values():
            for key in list(records):
                if chance.random() < 0.01:
                    del records[key]
        self.disk = {name: dict(records) for name, records in self.memory.items()}


def test_holes_are_called_holes() -> None:
    """Newer records are there, older ones are not."""
    summary = strike(Amnesic())
    assert Shape.HOLES in {each.shape for each in summary.losses}
    assert summary.outcome(claimed=True) is Outcome.FAIL


class Undead(Store):
    """Deletes reach the memory alone."""

    def flush(self, name: str, key: Key) -> None:
        if key in self.memory[name]:
            super().flush(name, key)


def test_a_delete_that_is_undone_is_a_resurrection() -> None:
    """The only breach of that store."""
    summary = strike(Undead())
    assert summary.anomalies[Anomaly.RESURRECTED] > 0
    assert not summary.anomalies[Anomaly.LOST]


class Torn(Store):
    """Writes hashes to disk field by field and starts without finishing: new fields beside old ones."""

    def flush(self, name: str, key: Key) -> None:
        new, old = self.memory[name].get(key), self.disk[name].get(key)
        if name == "c_hash10" and isinstance(new, dict) and isinstance(old, dict):
            self.disk[name][key] = {**old, "field0": new["field0"]}  # type: ignore[dict-item]
        else:
            super().flush(name, key)


def test_a_torn_hash_is_called_torn() -> None:
    """Whole in memory, torn on disk."""
    summary = strike(Torn())
    assert summary.anomalies[Anomaly.TORN] > 0
    assert set(summary.anomalies) == {Anomaly.TORN, Anomaly.OK}


class Inventive(Store):
    """Serves rows of zeros where it found no row: data that no client wrote."""

    def recover(self) -> None:
        super().recover()
        for key in list(self.memory.get("c_single_key", {}))[:3]:
            self.memory["c_single_key"][key] = b"\0" * 100


def test_an_invented_record_is_a_failure_even_where_nothing_was_promised() -> None:
    """Loss is what `volatile` means; serving data that no client wrote is not."""
    summary = strike(Inventive())
    assert summary.anomalies[Anomaly.INVENTED] > 0
    assert summary.outcome(claimed=False) is Outcome.FAIL


class Miscounting(Store):
    """Replays the last increment twice."""

    def recover(self) -> None:
        super().recover()
        counters = self.memory.get("c_counter", {})
        for key in counters:
            counters[key] += 1000  # type: ignore[operator]


def test_a_counter_that_is_off_is_miscounted() -> None:
    """Beyond what any subset of the unknown increments explains."""
    summary = strike(Miscounting())
    assert summary.anomalies[Anomaly.MISCOUNTED] > 0
    assert set(summary.anomalies) == {Anomaly.MISCOUNTED, Anomaly.OK}


class Stillborn(Store):
    """Does not start on its third try."""

    def begin(self) -> None:
        super().begin()
        if self.generation == 3:
            self.alive = False


@pytest.mark.parametrize("claimed", [True, False])
def test_a_store_that_does_not_start_again_is_a_failure_with_its_log(claimed: bool) -> None:
    """Its own class, whatever was claimed; the rounds end there."""
    summary = strike(Stillborn())
    assert summary.outcome(claimed=claimed) is Outcome.FAIL
    assert summary.losses[-1].shape is Shape.UNSTARTABLE
    assert summary.losses[-1].records == summary.acknowledged > 0
    assert "unstartable: it ended during its start" in summary.detail()
    assert summary.detail().endswith("the log's last line")


class Fragile(Store):
    """Ends by itself after a thousand writes."""

    writes = 0

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        self.writes += 1
        if self.writes > 1000:
            self.alive = False
            raise Unknown("connection lost")
        super().stored(name, key, record)


def test_a_store_that_ends_by_itself_is_a_failure() -> None:
    """No fault of ours explains it."""
    summary = strike(Fragile(), scale=SCALE.model_copy(update={"load_seconds": (1.0, 1.1)}))
    assert "it ended by itself" in summary.broken
    assert summary.outcome(claimed=False) is Outcome.FAIL


class ReadOnly(Store):
    """Takes no write after a recovery, as a store does that wants to be repaired first."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        if self.generation:
            raise Refused("read only: run repair")
        super().stored(name, key, record)


def test_a_store_that_takes_no_writes_after_the_recovery_is_a_failure() -> None:
    """It must start without repair and go on."""
    summary = strike(ReadOnly())
    assert "after the start it accepts no writes: read only: run repair" in summary.broken
    assert summary.outcome(claimed=False) is Outcome.FAIL


class Locked(Store):
    """Refuses every write from the beginning."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        raise Refused("disk full")


def test_a_store_that_acknowledges_nothing_passes_nothing() -> None:
    """A fault that put nothing at risk is no evidence."""
    assert strike(Locked()).outcome(claimed=True) is not Outcome.PASS


class Mute(Store):
    """Drops every connection that writes, from the beginning."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        raise Unknown("timed out")


def test_a_store_that_does_not_answer_is_reported_as_such() -> None:
    """It runs, so nothing is known of its durability: `Unknown` goes to the caller, who calls it inconclusive."""
    with pytest.raises(Unknown, match="before the fault: timed out"):
        strike(Mute())


class Leaky(Store):
    """An adapter that lets an exception of its client through."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        raise KeyError("internal")


def test_an_adapter_that_breaks_the_contract_is_not_the_stores_failure() -> None:
    """The breach leaves the client's thread and becomes an error of ours."""
    with pytest.raises(Breach, match=r"(put|increment|delete) raised KeyError"):
        strike(Leaky())


class Unstoppable(Handle):
    """Does not end when it is asked to."""

    def stop(self) -> None:
        raise StoreDied("it did not end within 30 s of SIGTERM", "still busy")


def test_a_store_that_does_not_stop_is_a_failure() -> None:
    """And nothing hangs: the clients are told to end."""
    layouts = {"single_key": Layout("c", MODELS["single_key"])}
    handle = Unstoppable(Store())
    summary = struck(subject(handle), "clean_restart", layouts, SCALE)
    assert "did not end within 30 s" in summary.broken


def test_the_second_fault_strikes_between_two_starts() -> None:
    """kill, start, kill, start: the store is killed again while it recovers, under a stream only."""
    store = Store()
    handle = Handle(store)
    struck(subject(handle), "process_kill", {"single_key": Layout("c", MODELS["single_key"])}, SCALE, second=True)
    assert handle.deeds == ["whole", "kill", "start", "whole", "kill", "start", "kill", "start"] * 5


class Pair(Handle):
    """Two nodes: the store's disk stands for the memory of the other one, which takes over at once."""

    nodes = ("a", "b")

    def kill_nodes(self, names: Sequence[str]) -> None:
        self.deeds.append(f"kill {' '.join(names)}")
        self.store.end(clean=False)
        self.store.begin()

    def start_nowait(self) -> None:
        self.deeds.append("start")


@pytest.mark.parametrize(("store", "outcome"), [(Store(), Outcome.PASS), (Late(), Outcome.FAIL)])
def test_a_node_whose_copy_comes_late_loses_what_was_acknowledged(store: Store, outcome: Outcome) -> None:
    """Each fault finds the cluster whole, and what is left of it is read before the node is back."""
    handle = Pair(store)
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "counter")}
    summary = struck(subject(handle), "one_node_kill", layouts, SCALE)
    assert summary.outcome(claimed=True) is outcome, summary.detail()
    assert handle.deeds == ["whole", "kill a", "start"] * 10
