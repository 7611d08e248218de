"""Records whose entry in a secondary index is looked at: it is there under the value that the record has, and under no other.

The store is asked for all records with each of a few values of a field. A record that is read by its key, and is not among those with its
value, has no entry: that is `lost`. One that is among others, or is not there at all, has a wrong one: that is `torn`, be it an entry from
before an overwrite or a delete, or one before its time.

The write id says which value a write gives the field; all else of the record is as other writes make it. A store that reads all its records
for the answer shows nothing of its index, and is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from storeproof.contract import Collection, Key, Layout, Record, call, supports
from storeproof.history import ABSENT, Observation
from storeproof.records.self_verifying import identify, recipe
from storeproof.spec import Target
from storeproof.spec.query import Query

MODEL: Final = "nested"
FIELD: Final = "name"
"""Of the model: the first that can have an index."""
VALUES: Final = ("ash", "birch", "cedar")
"""Few, since each is asked for in each state; more than two, so that most overwrites change the value."""

_SEARCHES: Final = {value: Query.model_validate({"filter": [FIELD, "eq", value], "fields": []}) for value in VALUES}
_SEARCHABLE: Final = ("filter.eq-text", "indexes.unique")
"""A variant that claims one of these finds records by the value of a field: the first with an index or without."""


def indexes_of(target: Target, model: str) -> int:
    """How many indexes a collection of a model has, so that its entries can be looked at; 0: the variant does not claim that."""
    return int(model == MODEL and target.claims("indexes.nested") and any(map(target.claims, _SEARCHABLE)))


def has_entries(layout: Layout, collection: Collection) -> bool:
    """Whether entries of a collection can be looked at."""
    return bool(layout.indexes) and supports(collection, "find")


def value_of(write_id: str) -> str:
    """That this write gives the field."""
    return VALUES[int(write_id.rpartition(":")[2]) % len(VALUES)]


def make_indexed(layout: Layout, key: Key, write_id: str) -> Record:
    """The record of this write, with its value in the field."""
    made: Any = recipe(layout.model).make(key, write_id)
    return {**made, FIELD: value_of(write_id)}


def record_seen(layout: Layout, key: Key, record: Record | None) -> Observation:
    """What is seen of such a record."""
    if record is None:
        return ABSENT
    found = identify(layout.model, key, record)  # never whole: its field tells no write
    if isinstance(record, Mapping) and len(found.write_ids) == 1:
        write_id = found.write_ids[0]
        told: Any = {**record, FIELD: recipe(layout.model).part(key, write_id, (FIELD,))}
        if record.get(FIELD) == value_of(write_id) and identify(layout.model, key, told).kind == "whole":
            return Observation("whole", write_id)
    return Observation("invented" if found.kind == "invented" else "torn")


def entry_seen(record: Observation, values: Sequence[str]) -> Observation:
    """What is seen of the entry of a record. `values`: with which it was found, one for each time."""
    if record.sight not in ("whole", "absent"):
        return record
    if values == ([value_of(record.write_id)] if record.sight == "whole" else []):
        return record
    return Observation("torn") if values else ABSENT


def read_entries(collection: Collection, layout: Layout) -> Mapping[Key, Sequence[str]]:
    """All entries under these values, by key."""
    found: dict[Key, list[str]] = {}
    for value, search in _SEARCHES.items():
        for key, _ in call(collection, layout, "find", search):
            found.setdefault(key, []).append(value)
    return found
