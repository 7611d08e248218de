"""The protocols. `Session` and `Collection` are required; every other one is implemented whole or not at all.

A session is one connection, used by one thread at a time. Disable automatic retries of a store's client:
a write that was sent twice, or acknowledged after a lost connection, cannot be judged.

Every method may raise `Refused` (it definitely did not happen), `Unknown` (it may have) or `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Cursor, Found, Json, Key, Layout, Missing, Path, Record
from storeproof.spec.query import Aggregation, Browse, Query, Where


@dataclass(frozen=True)
class Version:
    """What the server calls itself."""

    product: str
    number: str


@runtime_checkable
class Lacking(Protocol):
    """A session or a collection may give reasons for the families that it does not implement."""

    unsupported_because: Mapping[str, str]
    """By the name of the family, in one line, what the store does not have. What only the adapter leaves out is not named here."""


@runtime_checkable
class Collection(Protocol):
    """The records of one model under one name."""

    def prepare(self) -> None:
        """Create the collection and its indexes if they do not exist; existing ones stay as they are."""

    def clear(self) -> None:
        """Remove the collection with all its records, and nothing else; it need not exist."""

    def describe(self) -> Mapping[str, str]:
        """What the live store reports about the prepared collection.

        `indexes`: how many secondary indexes it has, as a decimal number; and the value of each of the variant's
        `options`, read from the store wherever the store knows them.
        """


@runtime_checkable
class Session(Protocol):
    """One authenticated connection."""

    def version(self) -> Version:
        """Product and version, asked of the server."""

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """The live values of the variant's `settings`, asked of the server, written as the store file writes them."""

    def collection(self, layout: Layout) -> Collection:
        """A handle on a collection; nothing is created.

        `Unsupported` for a model that the store cannot keep, and for indexes that it cannot make.
        """

    def close(self) -> None:
        """End the connection; never raises."""


@runtime_checkable
class KeyValue(Protocol):
    """Whole records by key."""

    def get(self, key: Key) -> Record | None:
        """The record, or None."""

    def put(self, key: Key, record: Record) -> None:
        """Store the record whole and atomically, in place of any that was there."""

    def delete(self, key: Key) -> bool:
        """Remove the record; whether there was one."""

    def exists(self, key: Key) -> bool:
        """Whether there is a record."""


@runtime_checkable
class Count(Protocol):
    """How many records a collection has, counted by the store."""

    def count(self) -> int:
        """The exact number."""


@runtime_checkable
class BatchRead(Protocol):
    """Many records in one request."""

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """The records in the order of the keys, None where there is none; a repeated key has a repeated answer."""


@runtime_checkable
class BatchWrite(Protocol):
    """Many records in one request."""

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """Store all. Each record is whole; the batch need not be atomic."""


@runtime_checkable
class Fields(Protocol):
    """Single fields of a hash, without moving the others."""

    def get_field(self, key: Key, field: str) -> bytes | None:
        """The field's value, or None where the record or the field is absent."""

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """Set one field and leave the others; an absent record is created."""

    def delete_field(self, key: Key, field: str) -> bool:
        """Remove one field; whether it was there."""


@runtime_checkable
class Paths(Protocol):
    """Parts of a document, without moving the whole."""

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        """The value at the path; MISSING where the record or any part of the path is absent."""

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """Set the value at the path whose parent exists (a new last field is added); False if there is no record."""

    def unset_path(self, key: Key, path: Path) -> bool:
        """Remove the object field at the path; False if there is no record. An absent field is fine."""


@runtime_checkable
class Counter(Protocol):
    """Numbers that many clients increment."""

    def increment(self, key: Key, by: int) -> int:
        """Add atomically and answer the sum; an absent counter starts from zero."""


@runtime_checkable
class Conditional(Protocol):
    """Writes that depend on what is there, decided by the store."""

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """Store the record unless there is one; whether it was stored."""

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Replace the record if it equals `expected`; whether it did. An absent record is never equal."""


@runtime_checkable
class Expiry(Protocol):
    """Records that expire."""

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """Store the record; from `seconds` on (plus at most one) no read finds it."""


@runtime_checkable
class Ordered(Protocol):
    """Records in the order of their keys: text keys by code point, integer keys by value."""

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """At most `count` records from `start` on, itself included (None: from the first or the last)."""


@runtime_checkable
class Find(Protocol):
    """Records by their contents. The store filters, sorts, pages and projects; `Unsupported` for what it cannot."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """Keys with records, or with the parts of them that `query.fields` names; in order where it sorts."""

    def count_where(self, where: Where) -> int:
        """How many records match, counted by the store."""


Joined = tuple[Key, dict[str, Json], dict[str, Json] | None]
"""A key, what was asked of its record, and what was asked of the one that it names."""


@runtime_checkable
class Lookup(Protocol):
    """Records joined with those that they refer to."""

    def find_joined(
        self, query: Query, path: Path, fields: Sequence[Path]
    ) -> Sequence[tuple[Key, dict[str, Json], dict[str, Json] | None]]:
        """As `find`, and with each record the parts `fields` of the one in the same collection whose key is the text at `path`.

        None where there is none. One request, in which the store does both.
        """


@runtime_checkable
class Aggregate(Protocol):
    """Groups and aggregates over them, computed by the store."""

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        """One dict a group: the names of `by` and `compute`, with their values."""


@runtime_checkable
class Facets(Protocol):
    """A page of results together with facets over all of them, in one request."""

    def browse(self, browse: Browse) -> Found:
        """All of what was asked for, from one state of the data."""


@runtime_checkable
class Bulk(Protocol):
    """Writes to all records that match."""

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        """Set the value at the path, as `set_path` does, in all records that match; how many matched.

        Where one of them has no place for the value, it stays as it is, and what becomes of the others is a named alternative: some
        stores refuse all, some change the others, and count these alone or all that matched.
        """

    def delete_where(self, where: Where) -> int:
        """Remove all records that match; how many there were."""


@runtime_checkable
class Swap(Protocol):
    """Atomic exchange of whole records."""

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """Store the record as `put` does, and answer what was there before (None: nothing), atomically.

        Among concurrent clients each gets what one other stored, and no two get the same.
        """


@runtime_checkable
class Append(Protocol):
    """Values that grow (`single_key`)."""

    def append(self, key: Key, value: bytes) -> None:
        """Add the bytes at the end of the value, atomically; an absent value starts empty, and is there afterwards."""


@runtime_checkable
class FieldCounter(Protocol):
    """Numbers in the fields of a hash, as decimal text: `-7` is stored as b"-7"."""

    def increment_field(self, key: Key, field: str, by: int) -> int:
        """Add atomically and answer the sum; an absent field starts from zero, in an absent record too, which is created.

        `Refused` where the field is no whole number; it then stays as it is.
        """


@runtime_checkable
class PathCounter(Protocol):
    """Numbers in a document."""

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """Add atomically to the number at the path and answer the sum; None if there is no record, and none is made.

        The parent exists, as for `set_path`; an absent last field starts from zero. Whole numbers are added exactly. With a
        real the sum is real; whether a whole one (2.0) comes back as an integer is as with `get`.

        `Refused` where no number is at the path (null and booleans are none), or no parent; nothing changes then.
        """


@runtime_checkable
class Arrays(Protocol):
    """Lists in a document, without moving them. Each writes atomically.

    Each answers False if there is no record, and is `Refused` where something else than a list is at the path (null too);
    nothing changes then. What happens where nothing is at the path is a named alternative: some stores start a list there.
    Items are equal as JSON values: `true` is not 1, an object equals none that has other fields.
    """

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        """Add an item at the end of the list."""

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        """Put an item at a position; those from there on move up by one.

        The path is that of the list with the position behind it, from 0 to the length. Beyond that is a named alternative:
        some stores refuse it, some add the item at the end.
        """

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """Remove all items that equal the value; the others close up. The list stays, if need be empty."""

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        """Add an item at the end, unless an equal one is in the list."""

    def item_count(self, key: Key, path: Path) -> int | Missing:
        """How many items the list has; MISSING where the record, a part of the path, or a list at its end is not there."""


@runtime_checkable
class ExpiryControl(Protocol):
    """Expiry of records, apart from writing them. An expired record is absent, here too."""

    def expire(self, key: Key, seconds: int) -> bool:
        """Give the record `seconds` to live, whatever it had before; whether there is a record."""

    def expires_in(self, key: Key) -> float | None:
        """The seconds that are left; None if the record is absent or does not expire. May be off by one second."""

    def persist(self, key: Key) -> bool:
        """Remove the expiry, if there was one; whether there is a record."""


@runtime_checkable
class Prefix(Protocol):
    """Records by the beginning of their keys, in the order of `Ordered` (models with text keys; `Unsupported` on others)."""

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """The first `count` records whose keys begin with exactly this text; all begin with the empty one."""


@runtime_checkable
class Walk(Protocol):
    """All keys of a collection, in pages, under concurrent writes."""

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """The next cursor and some more keys. The cursor is None at the beginning, and None at the end.

        `count` is a hint: fewer, none at all and more are allowed. A key that exists from the beginning of the walk to its end is
        returned at least once, any other may be.
        """
