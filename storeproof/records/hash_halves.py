"""Hashes that are written by updates of several fields only, each of one half of the record.

No such record is whole of one write, but its halves are. So each half is a place of its own, with its own history: in it, and in the
evidence, the key of a half is that of the record followed by `#0` or `#1`, and an update is a `put`. An update that a fault tears, or that
undoes one of the other half, is then found by the checks of whole records.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from storeproof.contract import Key, Layout, Record
from storeproof.history import ABSENT, Observation
from storeproof.records.self_verifying import identify
from storeproof.spec.model import Hash

_HALF: Final = re.compile(r"(.+:halves)#([01])", re.DOTALL)


def halved(key: Key) -> str:
    """The key of a record that is written in halves, from a key that no other record has."""
    return f"{key}:halves"


def half_key(record_key: str, half: int) -> str:
    """The key of a half, 0 or 1, in histories."""
    return f"{record_key}#{half}"


def record_key(key: Key) -> Key:
    """The key under which the store has the record of a place: that of a half is the record's."""
    found = _HALF.fullmatch(key) if isinstance(key, str) else None
    return found[1] if found else key


def fields_of(layout: Layout, half: int) -> tuple[str, ...]:
    """The names of a half's fields."""
    shape = layout.model.record
    assert isinstance(shape, Hash)
    middle = (len(shape.fields) + 1) // 2
    return shape.fields[middle:] if half else shape.fields[:middle]


def observed(layout: Layout, key: Key, record: Record | None) -> Observation:
    """What a record that was read shows of the place with this key."""
    found = _HALF.fullmatch(key) if isinstance(key, str) else None
    if found and isinstance(record, Mapping):
        return _observed_half(layout, found[1], fields_of(layout, int(found[2])), record)
    if record is None:
        return ABSENT
    identified = identify(layout.model, key, record)
    return Observation(identified.kind, identified.write_id or "")


def _observed_half(layout: Layout, key: str, names: tuple[str, ...], record: Mapping[str, Any]) -> Observation:
    there = {name: record[name] for name in names if name in record}
    if not there:
        return ABSENT
    identified = identify(layout.model, key, there)
    if identified.kind == "invented":
        return Observation("invented", "")
    written = set(identified.parts.values())
    (write_id,) = written if len(written) == 1 else (None,)
    return Observation("whole", write_id) if write_id and len(there) == len(names) else Observation("torn", "")
