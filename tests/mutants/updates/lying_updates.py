"""Stores that lie about several fields, paths or records in one request. `lie` says which lie it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Documents, Hashes, Rows, SQLite, Values
from storeproof.adapters.sqlite.table import Table
from storeproof.contract import MISSING, Address, Json, Key, Layout, Missing, Path, Record, Refused


class EveryFifth:
    """Counts the updates of several parts."""

    asked = 0

    def without_last(self, values: Mapping[Any, Any]) -> dict[Any, Any]:
        """What is set of them: of every fifth update all but the last."""
        self.asked += len(values) > 1
        return dict(list(values.items())[: -1 if len(values) > 1 and self.asked % 5 == 0 else None])


class FieldDropped(EveryFifth, Hashes):
    """The last field of every fifth update is not set."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        super().set_fields(key, self.without_last(values))


class PathDropped(EveryFifth, Documents):
    """The last path of every fifth update is not set."""

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        return super().set_paths(key, self.without_last(values))


class OrderOfTheRecord(Hashes):
    """The values come in the order of the record's fields."""

    def get_fields(self, key: Key, fields: Sequence[str]) -> list[bytes | None]:
        return super().get_fields(key, sorted(fields))


class EmptyIsAbsent(Hashes):
    """An empty value comes as none."""

    def get_fields(self, key: Key, fields: Sequence[str]) -> list[bytes | None]:
        return [value or None for value in super().get_fields(key, fields)]


class EachOnce(Hashes):
    """A field that is asked for twice is answered once."""

    def get_fields(self, key: Key, fields: Sequence[str]) -> list[bytes | None]:
        return super().get_fields(key, list(dict.fromkeys(fields)))


class PutWhole(Hashes):
    """The fields that an update does not name are gone."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        if values:
            self.put(key, dict(values))


class CreatedFull(Hashes):
    """A record that an update creates has every field."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        before = {} if self.exists(key) or not values else dict.fromkeys(self.columns, b"")
        super().set_fields(key, {**before, **values})


class CreatedByNothing(Hashes):
    """An update of no fields creates a record."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        if not values and not self.exists(key):
            self.put(key, {})
        super().set_fields(key, values)


class NullIsMissing(Documents):
    """Where nothing is comes a null: what MongoDB has in the place of a missing item, if a projection is a list of expressions."""

    def get_paths(self, key: Key, paths: Sequence[Path]) -> list[Json | Missing]:
        return [None if value is MISSING else value for value in super().get_paths(key, paths)]


class FirstsKept(Documents):
    """Of an update that cannot be made as a whole, what can is made, and acknowledged: what RedisJSON's JSON.MSET does (2.8.3)."""

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        if len(values) < 2:
            return super().set_paths(key, values)
        done = self.exists(key)
        for path, value in values.items():
            try:
                done = super().set_paths(key, {path: value})
            except Refused:
                continue
        return done


class CreatedByPaths(Documents):
    """An update of a record that is not there creates it."""

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        if values and not self.exists(key):
            self.put(key, {})
        return super().set_paths(key, values)


class SameItem(Documents):
    """Of several positions of one list the first is answered for all."""

    def get_paths(self, key: Key, paths: Sequence[Path]) -> list[Json | Missing]:
        return super().get_paths(key, [tuple(0 if isinstance(part, int) else part for part in path) for path in paths])


class LastLeftOut(Values):
    """The last record of a batch is not inserted."""

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        return super().insert_many(dict(list(records.items())[:-1]))


class Overwritten(Table):
    """A batch replaces records that exist, and says that they did."""

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        new = not any(map(self.exists, records))
        self.put_many(records)
        return new


class ValuesOverwritten(Overwritten, Values):
    pass


class RowsOverwritten(Overwritten, Rows):
    pass


class DocumentsOverwritten(Overwritten, Documents):
    pass


class OverwrittenAmongNew(Values):
    """A record that exists is replaced, if the batch has new ones too."""

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        there = sum(map(self.exists, records))
        if 0 < there < len(records):
            self.put_many(records)
        return super().insert_many(records)


class NeverAgain(Values):
    """A key that was deleted is taken for one that exists."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._deleted: set[Key] = set()

    def delete(self, key: Key) -> bool:
        self._deleted.add(key)
        return super().delete(key)

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        return not self._deleted & records.keys() and super().insert_many(records)


class FieldsMerged(Hashes):
    """A hash that exists gets the fields of the one that is inserted."""

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        new = not any(map(self.exists, records))
        for key, record in records.items():
            self.set_fields(key, record)  # type: ignore[arg-type]  # a hash
        return new


@dataclasses.dataclass(frozen=True)
class Lie:
    """A mutant, and the case that must catch it."""

    check: str
    liar: type[Table]


LIES: Mapping[str, Lie] = {
    "field-dropped": Lie("fields.set-fields/003", FieldDropped),
    "path-dropped": Lie("documents.set-paths/006", PathDropped),
    "order-of-the-record": Lie("fields.get-fields/001", OrderOfTheRecord),
    "empty-is-absent": Lie("fields.get-fields/002", EmptyIsAbsent),
    "each-once": Lie("fields.get-fields/003", EachOnce),
    "put-whole": Lie("fields.set-fields/001", PutWhole),
    "created-full": Lie("fields.set-fields/002", CreatedFull),
    "created-by-nothing": Lie("fields.set-fields/004", CreatedByNothing),
    "null-is-missing": Lie("documents.get-paths/001", NullIsMissing),
    "same-item": Lie("documents.get-paths/004", SameItem),
    "created-by-paths": Lie("documents.set-paths/004", CreatedByPaths),
    "firsts-kept": Lie("documents.set-paths/005", FirstsKept),
    "last-left-out": Lie("key_access.multi-insert/001", LastLeftOut),
    "values-overwritten": Lie("key_access.multi-insert/002", ValuesOverwritten),
    "overwritten-among-new": Lie("key_access.multi-insert/003", OverwrittenAmongNew),
    "never-again": Lie("key_access.multi-insert/004", NeverAgain),
    "rows-overwritten": Lie("rows.multi-insert/001", RowsOverwritten),
    "documents-overwritten": Lie("documents.multi-insert/001", DocumentsOverwritten),
    "fields-merged": Lie("fields.multi-insert/001", FieldsMerged),
}
"""By name."""


class Mutant(SQLite):
    """A session one of whose kinds of tables lies."""

    def __init__(self, link: Link, liar: type[Table]) -> None:
        super().__init__(link)
        self.tables = {kind: liar if issubclass(liar, honest) else honest for kind, honest in SQLite.tables.items()}


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    """Open one session that lies as `lie` says."""
    return Mutant(Link(address), LIES[options["lie"]].liar) if options else SQLite(Link(address))
