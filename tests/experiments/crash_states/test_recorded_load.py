"""The load that is recorded: clients at the same time, values of all sizes, and marks between which the changes lie."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from typing import Any, Final

from storeproof.contract import Key, Layout, Record
from storeproof.disk.recording import RecordedChanges
from storeproof.experiments.crash_states.recorded_load import RecordedLoad, of_all_sizes, record_load
from storeproof.records.beside.places import record_of
from storeproof.records.self_verifying import identify, recipe
from tests.experiments.durability.memory import Handle, Records, Session, Store, subject
from tests.shipped import SHIPPED

_REQUESTS: Final = 31
_CLIENTS: Final = 3
_PATIENCE: Final = 20.0
"""Seconds after which a client that should meet others is alone."""


class Disk:
    """What is done to it and said to it, in one order."""

    def __init__(self) -> None:
        self.log: list[int | tuple[Key, Record | None]] | None = None
        """Marks, and writes."""

    def record(self) -> None:
        self.log = []

    def mark(self, number: int) -> None:
        self.add(number)

    def add(self, what: int | tuple[Key, Record | None]) -> None:
        if self.log is not None:
            self.log.append(what)

    def recorded(self) -> RecordedChanges:
        assert self.log is not None
        marks = [(place, each) for place, each in enumerate(self.log) if isinstance(each, int)]
        return RecordedChanges.of(len(self.log), 0, marks)


class Meeting(Store):
    """Each client waits for the others before its first write, and the rewrite of the files for a write."""

    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self.disk_log = disk
        self.met = threading.Barrier(_CLIENTS)
        self.threads: set[int] = set()
        self.rewriting = threading.Event()
        self.written_during = threading.Event()

    def meet(self) -> None:
        if self.disk_log.log is not None and len(self.threads) < _CLIENTS and threading.get_ident() not in self.threads:
            self.threads.add(threading.get_ident())
            self.met.wait(_PATIENCE)

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        super().stored(name, key, record)
        self.disk_log.add((key, record))
        if self.rewriting.is_set():
            self.written_during.set()


class Met(Records):
    def put(self, key: Key, record: Record) -> None:
        self._store.meet()  # type: ignore[attr-defined]
        super().put(key, record)

    def delete(self, key: Key) -> bool:
        self._store.meet()  # type: ignore[attr-defined]
        return super().delete(key)


class Rewriting(Session):
    store: Meeting

    def collection(self, layout: Layout) -> Records:
        return Met(self, layout)

    def compact(self) -> str:
        if self.store.disk_log.log is None:  # before the recording one client writes
            return "REWRITE"
        self.store.rewriting.set()
        assert self.store.written_during.wait(_PATIENCE), "no client writes during the rewrite"
        return "REWRITE"


class Timed(Met):
    """With times to live, none of which ends."""

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self.put(key, record)

    def expire(self, key: Key, seconds: int) -> bool:
        raise NotImplementedError

    def expires_in(self, key: Key) -> float | None:
        raise NotImplementedError

    def persist(self, key: Key) -> bool:
        raise NotImplementedError


class RewritingTimed(Rewriting):
    def collection(self, layout: Layout) -> Records:
        return Timed(self, layout)


def recorded(session: type[Rewriting] = Rewriting, *, expiring: bool = False) -> tuple[RecordedLoad, Disk]:
    disk = Disk()
    store = Meeting(disk)
    layouts = {"single_key": of_all_sizes(Layout("kv", SHIPPED.models["single_key"]))}
    recording: Any = disk
    return record_load(subject(Handle(store), session), recording, layouts, frozenset(), _REQUESTS, expiring=expiring), disk


def test_clients_write_at_the_same_time_and_during_the_rewrite() -> None:
    """Each about as often as the others."""
    load, _ = recorded()
    first = load.recording.marks[0]
    sent = Counter(each.client for each in load.operations if each.invoked >= first)
    assert sent.total() == _REQUESTS
    assert len(sent) == _CLIENTS == load.clients
    assert max(sent.values()) - min(sent.values()) <= 2
    opened = [each for each in load.operations if first <= each.invoked < first + _CLIENTS]
    assert {each.client for each in opened} == sent.keys(), "each is sent before the first reply"


def test_a_record_and_its_expiry_are_one_request() -> None:
    """Where the store claims times to live, and where it does not there are none."""
    load, _ = recorded(RewritingTimed, expiring=True)
    expiries = [each for each in load.operations if record_of(each.key) is not None]
    assert expiries
    for each in expiries:
        (record,) = (other for other in load.operations if other.invoked == each.invoked and other.key != each.key)
        assert replace(each, key=record.key) == record
        assert record_of(each.key) == record.key
    for load, _ in (recorded(RewritingTimed), recorded(expiring=True)):
        assert not any(record_of(each.key) for each in load.operations)


def test_a_change_is_after_the_mark_of_its_request_and_before_that_of_its_reply() -> None:
    """In the order of the disk, which is that of the states."""
    load, disk = recorded()
    assert disk.log is not None
    first = load.recording.marks[0]
    for each in load.operations:
        if each.invoked < first:
            continue
        assert each.completed is not None
        begin, end = disk.log.index(each.invoked), disk.log.index(each.completed)
        changed = [what[0] for what in disk.log[begin:end] if isinstance(what, tuple)]
        assert each.key in changed


def test_values_have_sizes_of_sectors_pages_and_more() -> None:
    """And each tells its write."""
    model = of_all_sizes(Layout("kv", SHIPPED.models["single_key"])).model
    made = [(f"k{number}", f"1:{number}") for number in range(200)]
    records = [recipe(model).make(key, write_id) for key, write_id in made]
    assert all(identify(model, key, record).write_id == write_id for (key, write_id), record in zip(made, records, strict=True))
    sizes = {len(record) for record in records if isinstance(record, bytes)}
    assert len(sizes) == 5
    assert min(sizes) < 20
    assert max(sizes) > 2**16
    assert any(512 < size < 4096 for size in sizes)
    assert any(4096 < size < 2**16 for size in sizes)
    hashes = Layout("h", SHIPPED.models["hash10"])
    assert of_all_sizes(hashes) is hashes
