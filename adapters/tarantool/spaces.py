"""Spaces of Tarantool: how a record of each model is one tuple, and what is asked of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tarantool.const import ITERATOR_GE, ITERATOR_LE
from tarantool.error import DatabaseError

from storeproof.adapters.tarantool.feed import Followed
from storeproof.adapters.tarantool.index import Indexed
from storeproof.adapters.tarantool.link import FAILURES, Link
from storeproof.adapters.tarantool.notation import notation, packed, place
from storeproof.contract import MISSING, Cursor, Json, Key, Layout, Missing, Path, Record, Refused, Row, Unsupported
from storeproof.spec import model as shapes

# From src/box/errcode.h.
_TUPLE_FOUND: Final = 3
_OF_THE_KEY: Final = re.compile("unique index .primary. in space")
"""The record is there; in any other index it is a value that another record has."""
_NO_SUCH_SPACE: Final = 36

_NO_END: Final = "Tarantool has no expiry of records; the module expirationd deletes them from a fiber of the application"
_NO_ORDER: Final = "a hash index has no order"
_NOT_IN_MAPS: Final = "Tarantool's SQL cannot access maps, and the alternative to a select is a Lua program of the application"
_LACKING: Final = {
    "Expiry": _NO_END,
    "ExpiryControl": _NO_END,
    "SweptExpiry": _NO_END,
    "FieldCounter": "the fields of a hash are columns of bytes, and Tarantool can only add to numbers",
    "Ordered": _NO_ORDER,
    "Prefix": _NO_ORDER,
    "Walk": "a hash index has no position to resume from",
    "Aggregate": _NOT_IN_MAPS,
    "Facets": _NOT_IN_MAPS,
    "Bulk": _NOT_IN_MAPS,
    "Lookup": _NOT_IN_MAPS,
    "Validation": "a space's format has types for columns, not for paths in a map",
}
"""Ordered, Prefix and Walk are there where the primary index is a tree."""


def _duplicates_a_key(reason: BaseException | None) -> bool:
    """Whether the server refused a tuple because the space has one with the same key."""
    return isinstance(reason, DatabaseError) and reason.args[:1] == (_TUPLE_FOUND,) and bool(_OF_THE_KEY.search(str(reason)))


class Space:
    """Whole records; a subclass says how a record is written."""

    columns: Sequence[Sequence[str]] = ()
    """Names and types of the columns behind the key."""

    unsupported_because: Mapping[str, str] = _LACKING

    def __init__(self, session: Link, layout: Layout) -> None:
        self._session = session
        self._call = session.call
        self._connection = session.connection
        self._layout = layout
        self._name = layout.name
        self._number: int | None = None

    def encode(self, record: Any) -> Sequence[Any]:
        raise NotImplementedError

    def decode(self, found: Sequence[Any]) -> Record:
        raise NotImplementedError

    def indexed(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        """The part of an index on a path."""
        position = next(place for place, column in enumerate(self.columns) if column[0] == path[0])
        return {"field": position + 2, "type": self.columns[position][1]}

    def _packed(self, records: Mapping[Key, Record]) -> Any:
        return packed([[key, *self.encode(record)] for key, record in records.items()])

    def ask(self, request: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Send one of the connection's requests about this space, by its number: the connector's own schema is never read again.

        A space that was dropped and created again has another number. A request with the old one changed nothing, and is sent again.
        """
        if self._number is None:
            self._number = self._call("number", self._name)[0]
        try:
            return request(self._number, *args, **options).data
        except DatabaseError as reason:
            if _duplicates_a_key(reason):
                return None
            if reason.args[:1] != (_NO_SUCH_SPACE,):
                raise self._session.failure_of(reason) from reason
        except FAILURES as reason:
            raise self._session.failure_of(reason) from reason
        self._number = self._call("number", self._name)[0]
        return self._session.run(request, self._number, *args, **options)

    def prepare(self) -> None:
        key = ["key", "string" if self._layout.model.key == "text" else "integer"]
        nullable = [{"name": name, "type": kind, "is_nullable": kind == "varbinary"} for name, kind in self.columns]
        indexes = [self.indexed(path) for path in self._layout.indexed]
        session = self._session
        self._call("prepare", self._name, session.engine, session.index, session.synchronous, [key, *nullable], indexes)

    def clear(self) -> None:
        self._call("clear", self._name)

    def describe(self) -> Mapping[str, str]:
        """Engine, type of the primary index, how it commits and number of the other indexes, asked of the space."""
        found: dict[str, str] = self._call("describe", self._name)[0]
        return found

    def get(self, key: Key) -> Record | None:
        found = self.ask(self._connection.select, [key], limit=1)
        return self.decode(found[0]) if found else None

    def put(self, key: Key, record: Record) -> None:
        self.ask(self._connection.replace, [key, *self.encode(record)])

    def delete(self, key: Key) -> bool:
        """A function, which does not send the record back."""
        return bool(self._call("delete", self._name, key)[0])

    def exists(self, key: Key) -> bool:
        """A function, which does not send the record."""
        return bool(self._call("exists", self._name, key)[0])

    def count(self) -> int:
        """space:count(), exact in Vinyl too."""
        return int(self._call("count", self._name)[0])

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        if not keys:
            return []
        found = self._call("get_many", self._name, list(keys))[0]
        return [None if each is None else self.decode(each) for each in found]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """space:replace of each, in one transaction."""
        if records:
            self._call("put_many", self._name, self._packed(records))

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """space:insert of each, in one transaction."""
        try:
            if records:
                self._call("insert_many", self._name, self._packed(records))
        except Refused as reason:
            if _duplicates_a_key(reason.__cause__):
                return False
            raise
        return True

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self.ask(self._connection.insert, [key, *self.encode(record)]) is not None

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Column by column, in one transaction."""
        wanted = list(self.encode(expected))
        return bool(self._call("compare_and_set", self._name, key, wanted, packed([[key, *self.encode(record)]]))[0])

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """space:get and space:replace, in one transaction."""
        found = self._call("get_and_set", self._name, key, packed([[key, *self.encode(record)]]))
        return self.decode(found[0]) if found and found[0] is not None else None


class Values(Followed, Space):
    columns = (("value", "varbinary"),)

    def encode(self, record: Any) -> Sequence[Any]:
        return (record,)

    def decode(self, found: Sequence[Any]) -> Record:
        value: bytes = found[1]
        return value

    def append(self, key: Key, value: bytes) -> None:
        """space:get and space:replace, in one transaction; the protocol's splice knows text only."""
        self._call("append", self._name, key, value)

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        """box.atomic around space:get of each, then space:replace of each."""
        written = packed([[key, *self.encode(record)] for key, record in writes.items()]) if writes else None
        found = self._call("run_whole", self._name, list(reads), written)[0]
        return [None if each is None else self.decode(each) for each in found]


class Counters(Followed, Space):
    """Numbers: from -2**63 to 2**64 - 1."""

    columns = (("number", "integer"),)

    def encode(self, record: Any) -> Sequence[Any]:
        return (record,)

    def decode(self, found: Sequence[Any]) -> Record:
        number: int = found[1]
        return number

    def increment(self, key: Key, by: int) -> int:
        """Update or insert, in one transaction; UPSERT does not answer the sum."""
        return int(self._call("increment", self._name, key, by)[0])

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        """A function of our own, in a transaction."""
        if amount < 0:
            raise Refused(f"an amount is not negative; found {amount}")
        return bool(self._call("transfer", self._name, source, target, amount)[0])


class Rows(Followed, Space):
    columns = (("integer", "integer"), ("real", "double"))

    def encode(self, record: Any) -> Sequence[Any]:
        return (record.integer, record.real)

    def decode(self, found: Sequence[Any]) -> Record:
        return Row(found[1], found[2])


class Hashes(Followed, Space):
    """Hashes, a column for each field; a field that is not there is null. One without fields stays, empty."""

    def __init__(self, session: Link, layout: Layout) -> None:
        super().__init__(session, layout)
        assert isinstance(layout.model.record, shapes.Hash)
        self._fields = layout.model.record.fields
        self._place = {field: place for place, field in enumerate(self._fields, start=2)}
        self.columns = [(field, "varbinary") for field in self._fields]

    def encode(self, record: Any) -> Sequence[Any]:
        values = list(map(record.get, self._fields))
        if len(values) - values.count(None) != len(record):
            raise Refused(f"the space has the columns {', '.join(self._fields)}; the record has others")
        return values

    def decode(self, found: Sequence[Any]) -> Record:
        return {field: value for field, value in zip(self._fields, found[1:], strict=True) if value is not None}

    def get_field(self, key: Key, field: str) -> bytes | None:
        return self.get_fields(key, [field])[0]

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        self.set_fields(key, {field: value})

    def get_fields(self, key: Key, fields: Sequence[str]) -> Sequence[bytes | None]:
        places = [self._place.get(field, 0) for field in fields]  # no column has the number 0
        found = self._call("get_columns", self._name, key, places)[0] if places else []
        return [None if column is None else column[0] for column in found]

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        """UPSERT, with an operation for each."""
        if values:
            changes = [("=", self._known(field) - 1, value) for field, value in values.items()]
            self.ask(self._connection.upsert, [key, *map(values.get, self._fields)], changes)

    def delete_field(self, key: Key, field: str) -> bool:
        place = self._place.get(field)
        return bool(place and self._call("delete_column", self._name, key, place)[0])

    def _known(self, field: str) -> int:
        if field not in self._place:
            raise Refused(f"the space has the columns {', '.join(self._fields)}; found {field!r}")
        return self._place[field]


class Documents(Indexed, Followed, Space):
    """Documents, each a map."""

    columns = (("doc", "map"),)

    def encode(self, record: Any) -> Sequence[Any]:
        return (record,)

    def decode(self, found: Sequence[Any]) -> Record:
        fields: dict[str, Json] = found[1]
        return fields

    def indexed(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        """A scalar of any type; objects and lists are refused there."""
        return {"field": 2, "type": "scalar", "path": notation(path)}

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        return self.get_paths(key, [path])[0]

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """space:update, which refuses a path whose parent is not there."""
        return self.set_paths(key, {path: value})

    def get_paths(self, key: Key, paths: Sequence[Path]) -> Sequence[Json | Missing]:
        found = self._call("get_paths", self._name, key, list(map(place, paths)))[0] if paths else []
        return [each[0] if each else MISSING for each in found]

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        """space:update, as `set_path`."""
        if () in values:
            raise Refused("the path is empty: the whole record is replaced by put")
        if not values:
            return self.exists(key)
        changes = [(f"doc{notation(path)}", value) for path, value in values.items()]
        return bool(self._call("set_paths", self._name, key, changes)[0])

    def unset_path(self, key: Key, path: Path) -> bool:
        """space:update, which would remove a list's item too; where there is none, there is nothing to refuse."""
        if not path or (isinstance(path[-1], int) and self.get_path(key, path) is not MISSING):
            raise Refused("only a field of an object can be removed")
        if isinstance(path[-1], int):
            return self.exists(key)
        return bool(self._call("unset_path", self._name, key, *place(path))[0])

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """space:update, in one transaction with the question whether there is something to add to."""
        if not path:
            raise Refused("the path is empty, and a record is not a number")
        found = self._call("increment_path", self._name, key, *place(path), by)
        return found[0] if found else None

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        """space:update with an insertion behind the last."""
        return bool(self._call("push_item", self._name, key, f"doc{notation(path)}", value)[0])

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        """space:update with an insertion, which is refused beyond the end."""
        if not path or not isinstance(path[-1], int) or path[-1] < 0:
            raise Refused(f"an item can only be inserted at a list position; found {path}")
        return bool(self._call("insert_item", self._name, key, f"doc{notation(path[:-1])}", path[-1] + 1, value)[0])

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """space:update, item by item in one transaction."""
        return bool(self._call("pull_item", self._name, key, f"doc{notation(path)}", value)[0])

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        """space:update, unless the item is there."""
        return bool(self._call("add_to_set", self._name, key, f"doc{notation(path)}", value)[0])

    def item_count(self, key: Key, path: Path) -> int | Missing:
        found = self._call("item_count", self._name, key, f"doc{notation(path)}")
        return int(found[0]) if found else MISSING


class Scanned(Space):
    """A space whose primary index is a tree: text is compared as UTF-8 bytes, which is by code point."""

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        bounds = [] if start is None else [start]
        found = self.ask(self._connection.select, bounds, limit=count, iterator=ITERATOR_LE if backwards else ITERATOR_GE)
        return [(each[0], self.decode(each)) for each in found]

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """From the prefix on, up to the first key without it."""
        if self._layout.model.key != "text":
            raise Unsupported("keys that are numbers have no prefixes")
        return [(each[0], self.decode(each)) for each in self._call("scan_prefix", self._name, prefix, count)[0]]

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """From the last key on, which need not be there any more."""
        found = self._call("walk", self._name, cursor, count)[0]
        return found[-1] if len(found) == count else None, found


class OrderedValues(Scanned, Values):
    """Values in a tree."""


class OrderedCounters(Scanned, Counters):
    """Numbers in a tree."""


class OrderedRows(Scanned, Rows):
    """Rows in a tree."""


class OrderedHashes(Scanned, Hashes):
    """Hashes in a tree."""


class OrderedDocuments(Scanned, Documents):
    """Documents in a tree."""
