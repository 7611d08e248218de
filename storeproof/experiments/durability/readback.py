"""Reads everything back after a fault, and judges each key against its history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from storeproof.check import Finding, judge, judge_counter
from storeproof.contract import Collection, Key, Layout, Record, Refused, Session, call, supports
from storeproof.history import ABSENT, Observation, Operation
from storeproof.records.self_verifying import identify
from storeproof.spec.model import Counter

_BATCH = 100
"""Keys per request, where the store has such requests."""

Histories = Mapping[tuple[str, Key], Sequence[Operation]]
"""The operations by model and key."""


def by_key(operations: Iterable[Operation]) -> dict[tuple[str, Key], list[Operation]]:
    """Sort a history by key."""
    found: dict[tuple[str, Key], list[Operation]] = {}
    for operation in operations:
        found.setdefault((operation.collection, operation.key), []).append(operation)
    return found


def audit(session: Session, layouts: Mapping[str, Layout], histories: Histories) -> tuple[list[Finding], list[str]]:
    """The findings for all keys, and the models whose collection was gone.

    Raises:
        Refused: the store refuses to read, also after the collection was created again.
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
            # A store that keeps its schema in memory too has lost that: everything is gone, and reads will show it.
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
