"""Reads everything back after a fault, and checks each key against its history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storeproof.check import Anomaly, Finding, judge, judge_counter
from storeproof.contract import Collection, Key, Layout, Record, Refused, Session, call, supports
from storeproof.experiments.client import send_some
from storeproof.experiments.durability.clients import Clients
from storeproof.history import ABSENT, Observation, Operation, Place, by_place
from storeproof.records.self_verifying import identify
from storeproof.spec.model import Counter

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


def audit(session: Session, layouts: Mapping[str, Layout], histories: Histories) -> tuple[list[Finding], list[str]]:
    """The findings for all keys, and the models whose collection was missing.

    Raises:
        Refused: the store refuses to read, even after the collection was created again.
        Unknown: it does not answer.
    """
    findings: list[Finding] = []
    gone: list[str] = []
    for name, layout in layouts.items():
        keys = [key for model, key in histories if model == name]
        if not keys:
            continue
        collection = session.collection(layout)
        try:
            call(collection, layout, "get", keys[0])
        except Refused:
            # A store that also keeps its schema in memory has lost it: all data is gone, and the reads will show that.
            collection.prepare()
            gone.append(name)
        for key, record in _records(collection, layout, keys):
            findings.append(_judge(layout, histories[name, key], key, record))
    return findings, gone


def _records(collection: Collection, layout: Layout, keys: Sequence[Key]) -> Iterator[tuple[Key, Record | None]]:
    if not supports(collection, "get_many"):
        for key in keys:
            yield key, call(collection, layout, "get", key)
        return
    for first in range(0, len(keys), _BATCH):
        some = keys[first : first + _BATCH]
        yield from zip(some, call(collection, layout, "get_many", some), strict=True)


def _judge(layout: Layout, operations: Sequence[Operation], key: Key, record: Record | None) -> Finding:
    if isinstance(layout.model.record, Counter):
        assert record is None or isinstance(record, int)
        return judge_counter(operations, record)
    if record is None:
        return judge(operations, ABSENT)
    seen = identify(layout.model, key, record)
    return judge(operations, Observation(seen.kind, seen.write_id or ""))
