"""What belongs to records, through a fault, in a store in this process and without waiting: the clock is one that only sleep moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from storeproof.blame import CaseEnding
from storeproof.contract import Address, Change, Key, Layout, Record, Refused
from storeproof.errors import MachineFailed
from storeproof.experiments.durability.metadata.aspect import Aspect, Offered
from storeproof.experiments.durability.metadata.created_collections import Collections
from storeproof.experiments.durability.metadata.feeds import Feeds
from storeproof.experiments.durability.metadata.metadata import Metadata
from storeproof.experiments.durability.metadata.metadata_summary import MetadataSummary
from storeproof.experiments.durability.metadata.record_types import RecordTypes
from storeproof.experiments.durability.metadata.times_to_live import SweptTimesToLive, TimesToLive
from storeproof.faults import find
from storeproof.outcome import Outcome
from tests.experiments.durability import memory
from tests.shipped import SHIPPED


class Clock:
    """The machine's, which only sleep moves, and what a request takes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.set_by = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "time", lambda: 1_800_000_000 + self.now + self.set_by)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


class Store(memory.Store):
    """With times to live, and feeds, on its disk."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: dict[tuple[str, Key], float] = {}
        self.changed: dict[str, list[Change]] = {}
        self.said: list[str] = []
        """What was asked of it, in order."""
        self.refuses_feeds = False
        self.takes = 0.0
        """Seconds that `put_expiring` takes."""

    def swept(self, name: str, key: Key) -> bool:
        """Whether a record has expired."""
        return self.ends.get((name, key), time.monotonic()) < time.monotonic()


class Session(memory.Session):
    """That can compact."""

    store: Store

    def collection(self, layout: Layout) -> Records:
        return Records(self, layout)

    def compact(self) -> str:
        self.store.said.append("compact")
        return "COMPACT"


class Records(memory.Records):
    """Expiry, SweptExpiry, ExpiryControl, Feed and ResumableFeed."""

    _store: Store
    told = 0

    @property
    def _changed(self) -> list[Change]:
        return self._store.changed.setdefault(self._name, [])

    def clear(self) -> None:
        super().clear()
        self._store.disk.pop(self._name, None)

    def get(self, key: Key) -> Record | None:
        return None if self._store.swept(self._name, key) else super().get(key)

    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        self._store.ends.pop((self._name, key), None)
        self._changed.append(Change("put", key))

    def delete(self, key: Key) -> bool:
        self._changed.append(Change("delete", key))
        return super().delete(key)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self.put(key, record)
        self._store.ends[self._name, key] = time.monotonic() + seconds
        self._store.said.append(str(key))
        time.sleep(self._store.takes)

    put_swept = put_expiring

    def expire(self, key: Key, seconds: int) -> bool:
        there = self.exists(key)
        self._store.ends[self._name, key] = time.monotonic() + seconds
        return there

    def expires_in(self, key: Key) -> float | None:
        ends = self._store.ends.get((self._name, key))
        return None if ends is None else ends - time.monotonic()

    def persist(self, key: Key) -> bool:
        self._store.ends.pop((self._name, key), None)
        return self.exists(key)

    def follow(self, records: bool) -> None:
        self.told = len(self._changed)

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        if self._store.refuses_feeds and self._store.generation > self._session.generation:
            raise Refused("no such feed")
        found = self._changed[self.told : self.told + count]
        self.told += len(found)
        return found

    def leave_feed(self) -> None: ...

    def resume_feed(self) -> None: ...


ALL = ("expiry.put-expiring", "expiry.set", "expiry.read", "expiry.remove", "server_side.change-feed-resumed")


def offered(*claims: str) -> Offered:
    """A variant that claims values, counters and these."""
    numbers = iter(range(1000))
    return Offered(claims.__contains__, ("single_key", "counter"), lambda model: Layout(f"c{next(numbers)}", SHIPPED.models[model]))


def aspects(of: Offered, *, patient: bool = True) -> list[Aspect]:
    """All that this store has."""
    return [TimesToLive(of), SweptTimesToLive(of, patient=patient), RecordTypes(of), Feeds(of), Collections(of)]


def strike(
    store: Store, *claims: str, handle: memory.Handle | None = None, patient: bool = True, fault: str = "process_kill"
) -> MetadataSummary:
    """One fault."""
    summary = MetadataSummary(fault="process_crash")
    subject = memory.subject(handle or memory.Handle(store), Session)
    store.begin()
    Metadata(subject, find(fault), aspects(offered(*claims), patient=patient), summary).run()
    return summary


def after(store: Store, change: Callable[[], Any]) -> Store:
    """The store, to which something happens at each start but the first."""
    whole = store.recover

    def recover() -> None:
        whole()
        if store.generation > 1:
            change()

    store.recover = recover  # type: ignore[method-assign]
    return store


def test_an_honest_store_keeps_all(clock: Clock) -> None:
    """Half of it was written before the store rewrote its files, and half after it."""
    store, began = Store(), clock.now
    summary = strike(store, *ALL)
    assert (summary.wrong, summary.ending) == ([], CaseEnding.RIGHT)
    assert summary.kept == ["times to live", "types", "change feeds", "collections"]
    assert summary.sentence() == "kept through one process_crash and COMPACT before it: times to live, types, change feeds, collections"
    parts = [line.partition("-")[0] for line in store.said]
    assert parts.index("compact") == parts.count("rewritten") == parts.count("logged") == len(parts) // 2
    assert 3.0 < clock.now - began < 3.5  # the longest of the short times to live, and no wait beside it


def test_only_what_is_claimed_is_tried(clock: Clock) -> None:
    """And what no one claims is not told of."""
    assert strike(Store()).kept == ["types", "collections"]
    assert strike(Store(), "expiry.put-expiring").kept == ["times to live", "types", "collections"]


FORGOTTEN: Mapping[str, tuple[Callable[[Store], Any], str]] = {
    "times-to-live": (
        lambda store: store.ends.clear(),
        "times to live: single_key, rewritten expires after the fault: it is there, 1.1 s after",
    ),
    "long-ones": (
        lambda store: [store.ends.pop(each) for each, end in list(store.ends.items()) if end > time.monotonic() + 60],
        "times to live: single_key, rewritten expires in an hour: it has no time to live",
    ),
    "expired-ones-return": (
        lambda store: [store.ends.pop(each) for each, end in list(store.ends.items()) if end <= time.monotonic()],
        "times to live: single_key, rewritten expired before the fault: it is there, 2.1 s after",
    ),
    "begin-again": (
        lambda store: store.ends.update({each: end + 30 for each, end in store.ends.items()}),
        "times to live: single_key, logged extended to an hour: it expires in 3627 s, and not in",
    ),
    "persisted-ones-end": (
        lambda store: store.ends.update({(name, key): 0.0 for name in store.disk for key in store.disk[name] if "persisted" in str(key)}),
        "times to live: single_key, logged persisted: it is not there",
    ),
    "types": (
        lambda store: [
            records.update({key: b"1.0" for key, found in records.items() if found == b"1"}) for records in store.memory.values()
        ],
        "types: single_key, rewritten-3: it is b'1.0', and was b'1'",
    ),
    "changes": (lambda store: store.changed.clear(), "change feeds: it told "),
    "empty-collections": (
        lambda store: [store.memory.pop(name) for name in list(store.memory) if not store.memory[name]],
        "collections: refused: ",
    ),
}


@pytest.mark.parametrize("forgotten", FORGOTTEN)
def test_what_is_forgotten_is_found(forgotten: str, clock: Clock) -> None:
    """By its own finding. It is a failure of who promises the guarantee, and of no one else."""
    forget, finding = FORGOTTEN[forgotten]
    store = Store()
    summary = strike(after(store, lambda: forget(store)), *ALL)
    assert any(str(line).startswith(finding) for line in summary.wrong), summary.wrong
    assert {claimed: summary.outcome(claimed=claimed) for claimed in (True, False)} == {True: Outcome.FAIL, False: Outcome.UNSUPPORTED}
    assert summary.findings == summary.wrong


def test_a_feed_that_is_refused_is_told_and_no_failure(clock: Clock) -> None:
    """The client knows then that it has missed something; where the store is at another address it is not asked."""
    store = Store()
    store.refuses_feeds = True
    refused = strike(store, *ALL)
    assert (refused.wrong, refused.told) == ([], ["it refuses to resume a change feed: no such feed"])
    assert "change feeds" not in refused.kept
    handle = memory.Handle(store := Store())
    moved = strike(after(store, lambda: setattr(handle, "address", Address("elsewhere", 2))), *ALL, handle=handle)
    assert moved.told == ["change feeds were not resumed: the store has another address now"]
    assert "change feeds" not in moved.kept


def test_what_is_swept_is_awaited_where_there_is_time(clock: Clock) -> None:
    """Two minutes at most; elsewhere only what lasts is looked at."""
    began = clock.now
    assert strike(Store(), "expiry.swept").kept == ["times to live", "types", "collections"]
    assert clock.now - began < 3
    forgetful = Store()
    found = strike(after(forgetful, forgetful.ends.clear), "expiry.swept")
    assert list(map(str, found.wrong)) == ["times to live: rewritten-brief, logged-brief: not removed within 121 s after the start"]
    hasty = Store()
    hastily = strike(after(hasty, hasty.ends.clear), "expiry.swept", patient=False)
    assert hastily.kept == ["types", "collections"]
    assert hastily.told == ["of times to live only what lasts was looked at: the removal of expired records was not awaited"]


def test_a_clock_that_was_set_says_nothing_of_the_store(clock: Clock) -> None:
    """Times to live depend on it; a round that says nothing leaves nothing in the summary."""
    store = Store()

    def change() -> None:
        clock.set_by = 3600.0
        store.ends.clear()

    with pytest.raises(MachineFailed, match=r"the machine's clock was set by \+3600.0 s, and times to live depend on it: times to live: "):
        strike(after(store, change), *ALL)


def test_a_machine_that_stands_still_says_nothing_of_the_store(clock: Clock) -> None:
    """A record may have expired before the second of two requests about it."""
    store = Store()
    store.takes = 2.5
    with pytest.raises(MachineFailed, match=r"two requests took 2.5 s, and the record may have expired between them"):
        strike(store, *ALL)


def test_the_store_is_quiesced_before_its_power_is_cut(clock: Clock) -> None:
    """A cut at the first start is another experiment."""
    handle = memory.Handle(store := Store())
    assert strike(store, *ALL, handle=handle, fault="power_cut").wrong == []
    assert handle.deeds[:3] == ["quiesce", "stop", "start"]
