"""Records that are written with a time to live, or in the place of one that has one.

An expiry that a fault loses is `lost`, and one of another write is `torn`.

The write id says which time to live a write sets, or that it sets none. They are hours apart and many hours long: so the time that is left
tells which was set, nothing expires within a run, and no judgement depends on how long it took.
"""

from __future__ import annotations

from typing import Final

from storeproof.contract import Collection, Layout, call, supports
from storeproof.history import ABSENT, Observation
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


def writes_expiring(target: Target) -> bool:
    """Whether a variant claims to keep times to live, and to say what is left of one."""
    return target.claims("expiry.put-expiring") and target.claims("expiry.read")


def can_expire(layout: Layout, collection: Collection) -> bool:
    """Whether records of a collection can be written and read with their expiry."""
    return isinstance(layout.model.record, Value) and supports(collection, "put_expiring") and supports(collection, "expires_in")


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
