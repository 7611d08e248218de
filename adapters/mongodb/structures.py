"""Lists and sets: each is an array in one document, and each change is one update of it.

There are no rankings. What MongoDB could answer from an index is one document for each member; but such a ranking is not
replaced at once without a transaction, and a standalone server has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.adapters.mongodb.link import Stored, sorting
from storeproof.adapters.mongodb.records import Records
from storeproof.contract import Key, Record


class Queues(Records):
    """Lists, under `q`. One whose last item was taken stays, empty."""

    def encode(self, record: Record) -> Stored:
        return {"q": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        items: list[bytes] = found["q"]
        return items

    def push_back(self, key: Key, item: bytes) -> int:
        return self._pushed(key, {"$push": {"q": item}})

    def push_front(self, key: Key, item: bytes) -> int:
        return self._pushed(key, {"$push": {"q": {"$each": [item], "$position": 0}}})

    def pop_front(self, key: Key) -> bytes | None:
        """`$pop`, answered from the document as it was before."""
        return self._popped(key, 0)

    def pop_back(self, key: Key) -> bytes | None:
        return self._popped(key, -1)

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        if stop <= start:
            return []  # to $slice, no items are an error
        found = self._part(key, {"$slice": ["$q", start, stop - start]})
        return [] if found is None else found["v"]

    def list_length(self, key: Key) -> int:
        found = self._part(key, {"$size": "$q"})
        return 0 if found is None else found["v"]

    def _pushed(self, key: Key, change: Stored) -> int:
        length: int = self._updated({"_id": key}, change, {"$size": "$q"}, upsert=True)
        return length

    def _popped(self, key: Key, position: int) -> bytes | None:
        change = {"$pop": {"q": 1 if position else -1}}
        item: bytes | None = self._updated({"_id": key}, change, {"$arrayElemAt": ["$q", position]}, before=True)
        return item


class Sets(Records):
    """Sets, under `m`. One whose last member was removed stays, empty."""

    def encode(self, record: Record) -> Stored:
        assert isinstance(record, set)
        return {"m": list(record)}

    def decode(self, found: Mapping[str, Any]) -> Record:
        return set(found["m"])

    def equal(self, record: Record) -> Stored:
        """In whatever order."""
        assert isinstance(record, set)
        return {"m": {"$size": len(record), "$not": {"$elemMatch": {"$nin": list(record)}}}}

    def add_member(self, key: Key, member: str) -> bool:
        with sorting():
            done = self._collection.update_one({"_id": key}, {"$addToSet": {"m": member}}, upsert=True, session=self._link.session)
        return done.modified_count == 1 or done.upserted_id is not None

    def remove_member(self, key: Key, member: str) -> bool:
        with sorting():
            return self._collection.update_one({"_id": key}, {"$pull": {"m": member}}, session=self._link.session).modified_count == 1

    def has_member(self, key: Key, member: str) -> bool:
        """A filter on key and member; nothing but the key is sent."""
        with sorting():
            return self._collection.find_one({"_id": key, "m": member}, {"_id": 1}, session=self._link.session) is not None

    def member_count(self, key: Key) -> int:
        found = self._part(key, {"$size": "$m"})
        return 0 if found is None else found["v"]
