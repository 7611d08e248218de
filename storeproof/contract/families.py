"""The protocols. `Session` and `Collection` are required. Of every other one an adapter implements all methods, or none.

A session is one connection, used by one thread at a time. Disable automatic retries of a store's client: a write that may have been sent
twice, or was acknowledged after a lost connection, cannot be checked.

Every method may raise `Refused` (it definitely did not happen), `Unknown` (it may have) or `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Cursor, FacetedPage, Json, Key, Layout, Missing, Path, Record
from storeproof.spec.query import Aggregation, Browse, Query, Where


@dataclass(frozen=True)
class Version:
    """The product and version that the server reports."""

    product: str
    number: str


@runtime_checkable
class Lacking(Protocol):
    """A session or a collection may give reasons for the families that it does not implement."""

    unsupported_because: Mapping[str, str]
    """One line for each family, by its name, about what the store lacks. Families that only the adapter omits are not listed."""


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
        """Product and version, read from the server."""

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """The live values of the variant's `settings`, read from the server, in the notation of the store file."""

    def collection(self, layout: Layout) -> Collection:
        """A handle on a collection; nothing is created.

        `Unsupported` for a model that the store cannot store, and for indexes that it cannot create.
        """

    def close(self) -> None:
        """End the connection; never raises."""


@runtime_checkable
class KeyValue(Protocol):
    """Whole records by key."""

    def get(self, key: Key) -> Record | None:
        """The record, or None."""

    def put(self, key: Key, record: Record) -> None:
        """Store the whole record atomically; it replaces an existing one."""

    def delete(self, key: Key) -> bool:
        """Remove the record; returns whether it existed."""

    def exists(self, key: Key) -> bool:
        """Whether there is a record."""


@runtime_checkable
class Count(Protocol):
    """The number of records in a collection, counted by the store."""

    def count(self) -> int:
        """The exact number."""


@runtime_checkable
class BatchRead(Protocol):
    """Many records in one request."""

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """The records in the order of the keys, None for an absent one; a repeated key has a repeated answer."""


@runtime_checkable
class BatchWrite(Protocol):
    """Many records in one request."""

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """Store all. Each record is whole; the batch need not be atomic."""


@runtime_checkable
class BatchInsert(Protocol):
    """Many new records in one request, as a loader of the store's own maker sends them."""

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """Store all if their keys are new; returns whether they were.

        A record that exists is not changed. What is stored of the others then is a named alternative: nothing, those before it, or all.
        """


@runtime_checkable
class Fields(Protocol):
    """Single fields of a hash, without moving the others."""

    def get_field(self, key: Key, field: str) -> bytes | None:
        """The field's value, or None if the record or the field is absent."""

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """Set one field without changing the others; an absent record is created."""

    def delete_field(self, key: Key, field: str) -> bool:
        """Remove one field; returns whether it existed."""


@runtime_checkable
class SeveralFields(Protocol):
    """Several fields of a hash in one request, without moving the others.

    Each is atomic: of concurrent requests, a read sees all of a write or nothing of it, and so does a fault.
    """

    def get_fields(self, key: Key, fields: Sequence[str]) -> Sequence[bytes | None]:
        """The values in the order of the fields, None for an absent one or in an absent record; a repeated field has a repeated answer."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        """Set these fields without changing the others; an absent record is created, unless there are none to set."""


@runtime_checkable
class Paths(Protocol):
    """Parts of a document, without moving the whole."""

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        """The value at the path; MISSING if the record or any part of the path is absent."""

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """Set the value at the path whose parent exists (a new last field is added); False if there is no record."""

    def unset_path(self, key: Key, path: Path) -> bool:
        """Remove the object field at the path; False if there is no record. An absent field is no error."""


@runtime_checkable
class SeveralPaths(Protocol):
    """Several parts of a document in one request, without moving the whole. Each is atomic, as those of `SeveralFields`."""

    def get_paths(self, key: Key, paths: Sequence[Path]) -> Sequence[Json | Missing]:
        """The values in the order of the paths, each as of `get_path`; a repeated path has a repeated answer."""

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        """Set the values at the paths, each as `set_path` does; False if there is no record. No path leads into another one's value.

        If one of them cannot be set, the request is `Refused`, and nothing changes.
        """


@runtime_checkable
class Counter(Protocol):
    """Numbers that many clients increment."""

    def increment(self, key: Key, by: int) -> int:
        """Add atomically and return the sum; an absent counter starts at zero."""


@runtime_checkable
class Conditional(Protocol):
    """Conditional writes, decided by the store."""

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """Store the record unless the key exists; returns whether it was stored."""

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Replace the record if it equals `expected`; returns whether it did. An absent record is never equal."""


@runtime_checkable
class Expiry(Protocol):
    """Records that expire."""

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """Store the record; after `seconds` (plus at most one) no read finds it."""


@runtime_checkable
class SweptExpiry(Protocol):
    """Records that the store removes some time after they have expired. Until then reads may find them."""

    def put_swept(self, key: Key, record: Record, seconds: int) -> None:
        """Store the record; the store removes it after `seconds` and within two minutes more, by itself."""


class ExactExpiry:
    """Base of a collection with `Expiry`: where no read finds an expired record, it is swept too."""

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        raise NotImplementedError

    def put_swept(self, key: Key, record: Record, seconds: int) -> None:
        self.put_expiring(key, record, seconds)


@runtime_checkable
class Ordered(Protocol):
    """Records in the order of their keys: text keys by code point, integer keys by value."""

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """At most `count` records from `start` on, itself included (None: from the first or the last)."""


@runtime_checkable
class Find(Protocol):
    """Records by their contents. The store filters, sorts, pages and projects; `Unsupported` for what it cannot do."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """Keys with records, or with the parts of them that `query.fields` names; in order if the query sorts."""

    def count_where(self, where: Where) -> int:
        """The number of matching records, counted by the store."""


Joined = tuple[Key, dict[str, Json], dict[str, Json] | None]
"""A key, the requested parts of its record, and the requested parts of the record that it refers to."""


@runtime_checkable
class Lookup(Protocol):
    """Records joined with those that they refer to."""

    def find_joined(
        self, query: Query, path: Path, fields: Sequence[Path]
    ) -> Sequence[tuple[Key, dict[str, Json], dict[str, Json] | None]]:
        """As `find`; with each record, the parts `fields` of the record in the same collection whose key is the text at `path`.

        None if there is no such record. One request, in which the store does both.
        """


@runtime_checkable
class Aggregate(Protocol):
    """Groups and aggregates over them, computed by the store."""

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        """One dict per group: the names in `by` and `compute`, with their values."""


@runtime_checkable
class Facets(Protocol):
    """A page of results together with facets over all of them, in one request."""

    def browse(self, browse: Browse) -> FacetedPage:
        """The page, the total and the facets, all from one state of the data."""


@runtime_checkable
class Bulk(Protocol):
    """Writes to all records that match."""

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        """Set the value at the path, as `set_path` does, in all matching records; returns the number of matches.

        A record in which the parent of the path does not exist is not changed. What happens to the others is a named alternative: some
        stores refuse the request; some change the others, and count only these or all matches.
        """

    def delete_where(self, where: Where) -> int:
        """Remove all matching records; returns their number."""


@runtime_checkable
class Swap(Protocol):
    """Atomic exchange of whole records."""

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """Store the record as `put` does, and return the previous one (None if there was none), atomically.

        Of concurrent clients, each gets the record that another one stored, and no two get the same.
        """


@runtime_checkable
class Append(Protocol):
    """Values that grow (`single_key`)."""

    def append(self, key: Key, value: bytes) -> None:
        """Append the bytes to the value, atomically; an absent value starts empty, and exists afterwards."""


@runtime_checkable
class FieldCounter(Protocol):
    """Numbers in the fields of a hash, as decimal text: `-7` is stored as b"-7"."""

    def increment_field(self, key: Key, field: str, by: int) -> int:
        """Add atomically and return the sum; an absent field starts at zero, and an absent record is created.

        `Refused` if the field is not an integer; it is then not changed.
        """


@runtime_checkable
class PathCounter(Protocol):
    """Numbers in a document."""

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """Add atomically to the number at the path and return the sum; None if there is no record, and none is created.

        The parent exists, as for `set_path`; an absent last field starts at zero. Integers are added exactly. With a double the sum is a
        double; whether 2.0 is returned as an integer is as with `get`.

        `Refused` if the value at the path is not a number (null and booleans are not), or the parent does not exist; nothing changes then.
        """


@runtime_checkable
class Arrays(Protocol):
    """Lists in a document, without moving them. Each writes atomically.

    Each returns False if there is no record, and is `Refused` if the value at the path is not a list (null is not); nothing changes then.
    What happens if there is no value at the path is a named alternative: some stores start a list there. Items are compared as JSON values:
    `true` is not 1, and objects with different fields are not equal.
    """

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        """Add an item at the end of the list."""

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        """Insert an item at a position; the items from there on move up by one.

        The path is that of the list followed by the position, from 0 to the length. A higher position is a named alternative: some stores
        refuse it, some append the item.
        """

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """Remove all items that equal the value, without leaving gaps. The list remains, even if it is empty."""

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        """Add an item at the end, unless an equal one is in the list."""

    def item_count(self, key: Key, path: Path) -> int | Missing:
        """The number of items in the list; MISSING if the record, a part of the path, or a list at its end does not exist."""


@runtime_checkable
class ExpiryControl(Protocol):
    """Expiry of existing records. An expired record is absent, here too."""

    def expire(self, key: Key, seconds: int) -> bool:
        """Set the time to live to `seconds`, whatever it was before; returns whether the record exists."""

    def expires_in(self, key: Key) -> float | None:
        """The remaining seconds; None if the record is absent or does not expire. May be off by one second."""

    def persist(self, key: Key) -> bool:
        """Remove the expiry, if there is one; returns whether the record exists."""


@runtime_checkable
class Prefix(Protocol):
    """Records by a prefix of their keys, in the order of `Ordered` (models with text keys; `Unsupported` on others)."""

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """The first `count` records whose keys start with exactly this text; every key starts with the empty text."""


@runtime_checkable
class Walk(Protocol):
    """All keys of a collection, in pages, under concurrent writes."""

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """The next cursor and some more keys. The cursor is None at the start, and None at the end.

        `count` is a hint: fewer keys, none or more are allowed. A key that exists from the start of the walk to its end is returned at
        least once; any other key may be returned.
        """
