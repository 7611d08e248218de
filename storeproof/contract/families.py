"""The protocols. `Session` and `Collection` are required; every other one is implemented whole or not at all.

A session is one connection, used by one thread at a time. A store's client must be told not to retry by itself:
a write that was sent twice, or acknowledged after a lost connection, cannot be judged.

Every method may raise `Refused` (it definitely did not happen), `Unknown` (it may have) or `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Found, Json, Key, Layout, Missing, Path, Record
from storeproof.spec.query import Aggregation, Browse, Query, Where


@dataclass(frozen=True)
class Version:
    """What the server calls itself."""

    product: str
    number: str


@runtime_checkable
class Collection(Protocol):
    """The records of one model under one name."""

    def prepare(self) -> None:
        """Create the collection and its indexes where they are not there; what is there stays as it is."""

    def clear(self) -> None:
        """Remove the collection with all its records, and nothing else; an absent one is fine."""

    def describe(self) -> Mapping[str, str]:
        """What the live store says of the prepared collection.

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
        """The records in the order of the keys, None where there is none; a key given twice is answered twice."""


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
    """Numbers that many clients add to."""

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
    """Records that end by themselves."""

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """Store the record; from `seconds` on (plus at most one) no read finds it."""


@runtime_checkable
class Ordered(Protocol):
    """Records in the order of their keys: text keys by code point, integer keys by value."""

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """At most `count` records from `start` on, itself included (None: from the first or the last)."""


@runtime_checkable
class Find(Protocol):
    """Records by what is in them. The store filters, sorts, pages and projects; `Unsupported` for what it cannot."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """Keys with records, or with the parts of them that `query.fields` names; in order where it sorts."""

    def count_where(self, where: Where) -> int:
        """How many records match, counted by the store."""


@runtime_checkable
class Aggregate(Protocol):
    """Groups and what is computed of them, in the store."""

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
        """Set the value at the path, as `set_path` does, in all records that match; how many matched."""

    def delete_where(self, where: Where) -> int:
        """Remove all records that match; how many there were."""
