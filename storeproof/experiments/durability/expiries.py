"""Records that are written with a time to live, or in the place of one that has one.

What a record has of these is a part of it that a store may keep elsewhere, so its expiry is a place of its own: in histories, and in the
evidence, its key is that of the record followed by `#expiry`, and a write of the record is one of both together. An expiry that a fault
loses is then `lost`, one of another write `torn`, and with its record `split`, by the checks of records that are written together.

The write id says which time to live a write sets, or that it sets none. They are hours apart and many hours long: so the time that is left
tells which was set, nothing expires within a run, and no judgement depends on how long it took.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from storeproof.contract import Collection, Key, Layout, call, supports
from storeproof.history import ABSENT, Observation, Place
from storeproof.spec import Target
from storeproof.spec.model import Value

OFF: Final = 1.5
"""Seconds by which the time that is left may be off: stores count it in whole ones."""

_HOUR: Final = 3600
_LEAST: Final = 24
_MOST: Final = 600
"""Hours: less than the 30 days from which some stores take a time to live for a date."""
_LASTS: Final = 3
"""Of that many writes of a client one sets none."""
_RECORD: Final = ":expiring"
_EXPIRY: Final = "#expiry"


def writes_expiring(target: Target) -> bool:
    """Whether a variant claims to keep times to live, and to say what is left of one."""
    return target.claims("expiry.put-expiring") and target.claims("expiry.read")


def can_expire(layout: Layout, collection: Collection) -> bool:
    """Whether records of a collection can be written and read with their expiry."""
    return isinstance(layout.model.record, Value) and supports(collection, "put_expiring") and supports(collection, "expires_in")


def expiring(key: Key) -> str:
    """The key of a record that is only written as these are, from a key that no other record has."""
    return f"{key}{_RECORD}"


def expiry_of(record: str) -> str:
    """The key of its expiry in histories."""
    return f"{record}{_EXPIRY}"


def record_of(key: Key) -> str | None:
    """The key of the record whose expiry this is; None: it is that of a record."""
    return key.removesuffix(_EXPIRY) if isinstance(key, str) and key.endswith(_RECORD + _EXPIRY) else None


def seconds_of(write_id: str) -> int | None:
    """The time to live that this write sets; None: none."""
    number = int(write_id.rpartition(":")[2])
    return None if number % _LASTS == 0 else (_LEAST + number % (_MOST - _LEAST)) * _HOUR


def expiry_seen(record: Observation, left: float | None) -> Observation:
    """What is seen of the expiry of a record. `left`: the seconds that it has left; None: it lasts, or is not there."""
    if record.sight != "whole":
        return record
    wanted = seconds_of(record.write_id)
    if wanted is None or left is None:
        return record if wanted is left else ABSENT if left is None else Observation("torn")
    return record if wanted - _HOUR < left <= wanted + OFF else Observation("torn")


def read_expiry(collection: Collection, layout: Layout, key: str, record: Observation) -> Observation:
    """Ask for it. `key`: of the record, of which this was seen."""
    return expiry_seen(record, call(collection, layout, "expires_in", key))


def check_with_expiry(places: Iterable[Place]) -> None:
    """Raises `ValueError`: a record that has an expiry is there without it, or the reverse."""
    found = dict.fromkeys(places)
    for collection, key in found:
        record = record_of(key)
        twin = record if record is not None else expiry_of(key) if isinstance(key, str) and key.endswith(_RECORD) else key
        if (collection, twin) not in found:
            raise ValueError(f"{collection}[{key!r}] is there without {twin!r}")
