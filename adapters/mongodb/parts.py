"""Parts of records, without moving the whole: fields of hashes, and values, numbers and lists in documents.

An update asks in its filter for the place that it is about, since most of MongoDB's operators would create the objects on
the way there. Where nothing was updated, a second request tells a record that is absent from one without such a place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.adapters.mongodb.filter import at, is_plain, settable
from storeproof.adapters.mongodb.link import sorting
from storeproof.adapters.mongodb.records import Fielded, dotted
from storeproof.contract import MISSING, Json, Key, Missing, Path, Refused


class Hashes(Fielded):
    """Hashes. One whose last field was removed stays, empty."""

    def get_field(self, key: Key, field: str) -> bytes | None:
        found = self._part(key, at((field,)))
        return None if found is None else found.get("v")

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """`$set`, which creates the record where there is none."""
        with sorting():
            self._collection.update_one({"_id": key}, {"$set": {dotted((field,)): value}}, upsert=True, session=self._link.session)

    def get_fields(self, key: Key, fields: Sequence[str]) -> Sequence[bytes | None]:
        if not fields:
            return []
        with sorting():
            projection = {"_id": 0, **{dotted((field,)): 1 for field in fields}}
            found = self._collection.find_one({"_id": key}, projection, session=self._link.session)
        record: Mapping[str, bytes] = {} if found is None else found["d"]
        return [record.get(field) for field in fields]

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        if values:
            change = {"$set": {dotted((field,)): value for field, value in values.items()}}
            with sorting():
                self._collection.update_one({"_id": key}, change, upsert=True, session=self._link.session)

    def delete_field(self, key: Key, field: str) -> bool:
        with sorting():
            change = {"$unset": {dotted((field,)): ""}}
            return self._collection.update_one({"_id": key}, change, session=self._link.session).modified_count == 1


class Parts(Fielded):
    def get_path(self, key: Key, path: Path) -> Json | Missing:
        found = self._part(key, at(path))
        return MISSING if found is None else found.get("v", MISSING)

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self._changed(key, path, {"$set": {dotted(path): value}})

    def get_paths(self, key: Key, paths: Sequence[Path]) -> Sequence[Json | Missing]:
        if not paths:
            return []
        # A list of expressions would have null in the place of what is missing.
        found = self._part(key, {f"p{number}": at(path) for number, path in enumerate(paths)})
        parts = {} if found is None else found["v"]
        return [parts.get(f"p{number}", MISSING) for number in range(len(paths))]

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        if not values:
            return self.exists(key)
        change = {"$set": {dotted(path): value for path, value in values.items()}}
        guards = [guard for path in values if (guard := settable(path))]
        condition = {"_id": key, **({"$and": guards} if guards else {})}
        return self._update(condition, change) or self._without_place(key, *values)

    def unset_path(self, key: Key, path: Path) -> bool:
        """`$unset`; it would put a null in the place of a list's item, so the filter asks for an object where it matters."""
        target = dotted(path)
        if isinstance(path[-1], int):
            if isinstance(self.get_path(key, path[:-1]), (list, dict)):
                raise Refused(f"only a field of an object can be removed: {target}")
            return self.exists(key)  # what is not there needs no removal
        guard = settable(path) if not is_plain(path) else {}
        return self._update({"_id": key, **guard}, {"$unset": {target: ""}}) or (bool(guard) and self.exists(key))

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """`$inc`, which adds whole numbers exactly, refuses a sum beyond 64 bits, and refuses what is no number."""
        total: int | float | None = self._updated({"_id": key, **settable(path)}, {"$inc": {dotted(path): by}}, at(path))
        if total is None:
            self._without_place(key, path)
        return total

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        """`$push`, which starts a list where nothing is. `$each`, or an object's fields could be read as words of the update."""
        return self._changed(key, path, {"$push": {dotted(path): {"$each": [value]}}})

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        """`$push` with `$position`; beyond the end, it adds at the end."""
        above, position = path[:-1], path[-1]
        if not isinstance(position, int) or position < 0:
            raise Refused(f"there is no list position {position!r}")
        return self._changed(key, above, {"$push": {dotted(above): {"$each": [value], "$position": position}}})

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """`$pullAll`, which compares whole items; `$pull` would take an object for a filter."""
        return self._changed(key, path, {"$pullAll": {dotted(path): [value]}})

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        return self._changed(key, path, {"$addToSet": {dotted(path): {"$each": [value]}}})

    def item_count(self, key: Key, path: Path) -> int | Missing:
        size = {"$cond": [{"$isArray": ["$$list"]}, {"$size": "$$list"}, "$$REMOVE"]}
        found = self._part(key, {"$let": {"vars": {"list": at(path)}, "in": size}})
        return MISSING if found is None else found.get("v", MISSING)

    def _changed(self, key: Key, path: Path, change: Mapping[str, Any]) -> bool:
        return self._update({"_id": key, **settable(path)}, change) or self._without_place(key, path)

    def _without_place(self, key: Key, *paths: Path) -> bool:
        """False if there is no record. Raises `Refused`: there is one, so what is missing is the place."""
        if self.exists(key):
            raise Refused(f"there is no object or list position to change: {' or '.join(map(dotted, paths))}")
        return False
