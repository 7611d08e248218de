"""Transactions of the recorded load: what a crash leaves of them is whole, and has whatever they had read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from storeproof.check import Anomaly
from storeproof.contract import Key, Layout, Record
from storeproof.experiments.client_threads import together
from storeproof.experiments.crash_states.recorded_load import DiskClock
from storeproof.experiments.crash_states.state_judge import due
from storeproof.experiments.durability import record_writes
from storeproof.experiments.durability.atomic_groups import reading
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.trial_summary import findings_of
from storeproof.history import ABSENT, Operation, Place, Recorder, Seen, as_of
from storeproof.records.hash_halves import observed
from tests.experiments.crash_states.test_recorded_load import Disk
from tests.experiments.durability.memory import Handle, Store, subject
from tests.experiments.durability.test_atomic_groups import Transacting
from tests.shipped import SHIPPED

LAYOUT: Final = Layout("kv", SHIPPED.models["single_key"])
_PATIENCE: Final = 20.0

Commit = Sequence[tuple[str, Key, Record]]
"""The records of a transaction, as the log of the store has them: one entry."""


class Logged(Store):
    """Its log is on the disk, an entry for each commit."""

    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self.disk_log: Any = disk
        self.visible = threading.Event()
        self.read = threading.Event()


class Slow(Transacting):
    """The commit of the first client is visible to others before it is told of it: it waits until the second has read and committed."""

    store: Logged

    def commit(self) -> None:
        changes = list(self.open or [])
        self.store.disk_log.add(changes)
        super().commit()
        if not self.store.visible.is_set():
            self.store.visible.set()
            assert self.store.read.wait(_PATIENCE), "no other client commits"
        else:
            self.store.read.set()


@dataclass(frozen=True)
class Recorded:
    operations: Sequence[Operation]
    log: Sequence[int | Commit]

    def commits(self, until: int) -> list[Commit]:
        return [each for each in self.log[:until] if not isinstance(each, int)]

    def found(self, until: int, commits: Sequence[Commit]) -> set[Anomaly]:
        """What is wrong if that is what the store recovers when no more than the first N changes are on its disk."""
        mark = max((each for each in self.log[:until] if isinstance(each, int)), default=0)
        history = as_of(self.operations, mark)
        records = {key: record for commit in commits for _, key, record in commit}
        seen: dict[Place, Seen] = {place: _observed(place, records) for place in due(history)}
        return {each.anomaly for each in findings_of(history, seen)}


def _observed(place: Place, records: Mapping[Key, Record]) -> Seen:
    return observed(LAYOUT, place[1], records[place[1]]) if place[1] in records else ABSENT


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Two transactions, of which the second reads the first before that is acknowledged."""
    monkeypatch.setattr(record_writes, "_GROUPS", 1.0)
    disk: Any = Disk()
    store = Logged(disk)
    clients = Clients(subject(Handle(store), Slow), {"single_key": LAYOUT}, reading(frozenset({"transaction"})), Recorder(DiskClock(disk)))
    clients.prepare()
    first, second = clients.writer(1), clients.writer(1)
    disk.record()

    def follow() -> None:
        assert store.visible.wait(_PATIENCE), "the first client does not commit"
        second.step()

    works: list[Callable[[], object]] = [first.step, follow]
    together(works)
    assert not any(client.ended.refusal for client in (first, second))
    return Recorded(clients.recorder.operations(), disk.log)


def test_a_transaction_reads_what_another_client_was_not_told_of(recorded: Recorded) -> None:
    """So that there is something that only its reader proves."""
    (writer,) = {each.write_id for each in recorded.operations if not each.expected}
    (read,) = {each.expected for each in recorded.operations if each.expected}
    assert read == writer
    ends = {each.write_id: each.completed for each in recorded.operations}
    assert ends.pop(writer) > max(end for end in ends.values() if end is not None)  # type: ignore[operator]


def test_an_honest_store_has_a_beginning_of_its_log(recorded: Recorded) -> None:
    """Wherever the crash came, and also if what was not acknowledged is not there."""
    for until in range(len(recorded.log) + 1):
        assert recorded.found(until, recorded.commits(until)) == set()


def test_half_of_a_transaction_is_caught(recorded: Recorded) -> None:
    """Before anyone was told of it."""
    until = next(place for place, each in enumerate(recorded.log) if not isinstance(each, int)) + 1
    (commit,) = recorded.commits(until)
    assert recorded.found(until, [commit[: len(commit) // 2]]) == {Anomaly.SPLIT}


def test_a_later_transaction_without_the_one_it_had_read_is_caught(recorded: Recorded) -> None:
    """Where neither was acknowledged, and where only the later one was."""
    second = [place for place, each in enumerate(recorded.log) if not isinstance(each, int)][1] + 1
    for until in (second, second + 1):
        _, later = recorded.commits(until)
        assert recorded.found(until, [later]) == {Anomaly.LOST}


def test_a_store_whose_transactions_are_not_read_writes_as_before() -> None:
    """Faults other than recorded crashes have transactions that only write."""
    assert reading(frozenset({"batch"})) == {"batch"}
    assert reading(frozenset({"batch", "transaction"})) == {"batch", "reading transaction"}
