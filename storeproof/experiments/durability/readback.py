"""Reads everything back after a fault, and checks each key against its history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from storeproof.check import Anomaly, Finding, judge_seen
from storeproof.contract import Collection as Records
from storeproof.contract import Key, Layout, Record, Refused, Session, call, supports
from storeproof.errors import StoreDied
from storeproof.experiments.client import send_some
from storeproof.experiments.durability.clients import Clients
from storeproof.history import Observation, Operation, Place, Seen, by_place
from storeproof.records.beside.expiries import read_expiry
from storeproof.records.beside.index_entries import entry_seen, read_entries, record_seen
from storeproof.records.beside.places import ENTRY, record_of
from storeproof.records.hash_halves import observed, record_key
from storeproof.spec.model import CounterRecord

_BATCH = 100
"""Keys per request, if the store has such requests."""

Histories = Mapping[Place, Sequence[Operation]]
"""The operations by model and key."""


_SOME = 20
"""The number of writes that show whether a store is usable."""


@dataclass(frozen=True)
class TriedWrites:
    """The result of some writes."""

    acknowledged: int
    refusal: str
    """The last refusal."""
    wrong: list[Finding]
    """Acknowledged writes that are not read back as they were written."""


def try_writes(clients: Clients, session: Session, period: int) -> TriedWrites:
    """Write some records and read them back through `session`.

    Raises:
        Refused, Unknown: the store does not answer.
    """
    log = clients.recorder.client()
    client = clients.writer(period, log)
    send_some(client, _SOME)
    findings, _ = audit(session, clients.layouts, by_place(log.operations()))
    return TriedWrites(client.acknowledged, client.ended.refusal, [each for each in findings if each.anomaly is not Anomaly.OK])


def check_usable(clients: Clients, session: Session, period: int, since: str, log_tail: Callable[[], str]) -> None:
    """Check that the store accepts writes again and returns them; the next fault puts them at risk.

    Args:
        period: that of the writes.
        since: what it went through, for messages.
        log_tail: returns the last lines of its log.

    Raises:
        StoreDied: it does not. It runs, but it is unusable.
        Refused, Unknown: it does not answer.
    """
    tried = try_writes(clients, session, period)
    if not tried.acknowledged:
        raise StoreDied(f"{since} it accepts no writes: {tried.refusal}", log_tail())
    if tried.wrong:
        raise StoreDied(f"{since} it does not return what was written: {tried.wrong[0]}", log_tail())


def audit(session: Session, layouts: Mapping[str, Layout], histories: Histories) -> tuple[list[Finding], list[str]]:
    """The findings for all keys, and the models whose collection was missing. Raises as `read` does."""
    seen, gone = read(session, layouts, histories.keys())
    return [judge_seen(histories[place], each) for place, each in seen.items()], gone


def read(session: Session, layouts: Mapping[str, Layout], places: Collection[Place]) -> tuple[dict[Place, Seen], list[str]]:
    """What is read under all keys, and the models whose collection was missing.

    Raises:
        Refused: the store refuses to read, even after the collection was created again.
        Unknown: it does not answer.
    """
    seen: dict[Place, Seen] = {}
    gone: list[str] = []
    for name, layout in layouts.items():
        asked = [key for model, key in places if model == name]
        keys = [key for key in asked if record_of(key) is None]
        if not keys:
            continue
        collection = session.collection(layout)
        try:
            call(collection, layout, "get", record_key(keys[0]))
        except Refused:
            # A store that also keeps its schema in memory has lost it: all data is gone, and the reads will show that.
            collection.prepare()
            gone.append(name)
        for key, record in _records(collection, layout, keys):
            seen[name, key] = _seen(layout, key, record)
        entries = read_entries(collection, layout) if any(map(ENTRY.is_of, keys)) else {}
        for key in asked:
            if (of := record_of(key)) is not None:
                found = seen[name, of]
                assert isinstance(found, Observation)
                is_entry = ENTRY.is_its_own(key)
                seen[name, key] = entry_seen(found, entries.get(of, [])) if is_entry else read_expiry(collection, layout, of, found)
    return seen, gone


def _records(collection: Records, layout: Layout, keys: Sequence[Key]) -> Iterator[tuple[Key, Record | None]]:
    if not supports(collection, "get_many"):
        for key in keys:
            yield key, call(collection, layout, "get", record_key(key))
        return
    for first in range(0, len(keys), _BATCH):
        some = keys[first : first + _BATCH]
        yield from zip(some, call(collection, layout, "get_many", list(map(record_key, some))), strict=True)


def _seen(layout: Layout, key: Key, record: Record | None) -> Seen:
    if isinstance(layout.model.record, CounterRecord):
        assert record is None or isinstance(record, int)
        return record
    return record_seen(layout, key, record) if ENTRY.is_of(key) else observed(layout, key, record)
