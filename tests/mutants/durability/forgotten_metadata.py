"""Keeps every record through a fault, and not what belongs to it: the variant's option `lie` says what it forgets.

Times to live are in a table beside the records, and what a lie forgets is kept by the session that wrote it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from storeproof.adapters.sqlite.documents import Documents
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Layout, Record, Refused
from storeproof.spec.model import Index


class ExpiringValues(Values):
    """Values with times to live, which a table keeps: when each began, and how long it is."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._ends = f'"{layout.name}_ends"'

    def prepare(self) -> None:
        super().prepare()
        self._link.write(f"CREATE TABLE IF NOT EXISTS {self._ends} (k TEXT PRIMARY KEY, since REAL, seconds INTEGER)")

    def clear(self) -> None:
        super().clear()
        self._link.write(f"DROP TABLE IF EXISTS {self._ends}")

    def ends(self, key: Key) -> float | None:
        """The remaining time; None if it does not end."""
        rows = self._link.read(f"SELECT since, seconds FROM {self._ends} WHERE k = ?", key)
        return cast(float, rows[0][0] + rows[0][1] - time.time()) if rows else None

    def keep(self, key: Key, seconds: int | None) -> None:
        """Set the time to live, or remove it."""
        self._link.write(f"DELETE FROM {self._ends} WHERE k = ?", key)
        if seconds is not None:
            self._link.write(f"INSERT INTO {self._ends} VALUES (?, ?, ?)", key, time.time(), seconds)

    def get(self, key: Key) -> Record | None:
        left = self.ends(key)
        return None if left is not None and left <= 0 else super().get(key)

    def exists(self, key: Key) -> bool:
        return self.get(key) is not None

    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        self.keep(key, None)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        super().put(key, record)
        self.keep(key, seconds)

    def expire(self, key: Key, seconds: int) -> bool:
        there = self.exists(key)
        if there:
            self.keep(key, seconds)
        return there

    def expires_in(self, key: Key) -> float | None:
        return self.ends(key) if self.exists(key) else None

    def persist(self, key: Key) -> bool:
        there = self.exists(key)
        if there:
            self.keep(key, None)
        return there


class Forgetful(SQLite):
    """A session; a mutant has other collections."""

    values: type[ExpiringValues] = ExpiringValues
    documents: type[Documents] = Documents

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self.tables = {**SQLite.tables, "value": self.values, "document": self.documents}


class InMemory(ExpiringValues):
    """Times to live are gone with the session."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._kept: dict[Key, float] = link.__dict__.setdefault("kept", {})

    def ends(self, key: Key) -> float | None:
        return self._kept[key] - time.time() if key in self._kept else None

    def keep(self, key: Key, seconds: int | None) -> None:
        self._kept.pop(key, None)
        if seconds is not None:
            self._kept[key] = time.time() + seconds


class BeginsAgain(ExpiringValues):
    """As etcd: a time to live begins again when the store starts."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._opened: float = link.__dict__.setdefault("opened", time.time())

    def ends(self, key: Key) -> float | None:
        rows = self._link.read(f"SELECT since, seconds FROM {self._ends} WHERE k = ?", key)
        return cast(float, max(rows[0][0], self._opened) + rows[0][1] - time.time()) if rows else None


class NotPersisted(InMemory):
    """What `persist` removed is there again."""

    def keep(self, key: Key, seconds: int | None) -> None:
        if seconds is not None:
            ExpiringValues.keep(self, key, seconds)
        self._kept[key] = time.time() + (10**9 if seconds is None else seconds)

    def ends(self, key: Key) -> float | None:
        if (left := super().ends(key)) is None:
            return ExpiringValues.ends(self, key)
        return left if left < 10**8 else None


class NotUnique(Documents):
    """A unique index is one that the session watches."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._watched: set[str] = link.__dict__.setdefault("watched", set())

    def create_index(self, index: Index) -> None:
        super().create_index(index.model_copy(update={"unique": False}))
        if index.unique:
            self._watched.add(self._layout.name)

    def put(self, key: Key, record: Record) -> None:
        if self._layout.name in self._watched:
            name: Any = record["name"]  # type: ignore[index, call-overload]
            others = f"SELECT k FROM {self._name} WHERE k <> ? AND json_extract(doc, '$.name') = ?"
            if self._link.read(others, key, name):
                raise Refused("a duplicate")
        super().put(key, record)


class NotDropped(ExpiringValues):
    """A dropped collection is hidden from the session that dropped it."""

    def clear(self) -> None: ...


def _of_values(collection: type[ExpiringValues]) -> type[Forgetful]:
    return type("Mutant", (Forgetful,), {"values": collection})


LIES: Mapping[str, tuple[type[Forgetful], str]] = {
    "in-memory": (_of_values(InMemory), "times to live: single_key, rewritten expires after the fault: it is there"),
    "begins-again": (_of_values(BeginsAgain), "times to live: single_key, rewritten expires after the fault: it is there"),
    "not-persisted": (_of_values(NotPersisted), "times to live: single_key, rewritten persisted: it is not there"),
    "not-unique": (
        type("Mutant", (Forgetful,), {"documents": NotUnique}),
        "indexes: product: a duplicate is accepted that the unique index refused before",
    ),
    "not-dropped": (_of_values(NotDropped), "collections: a dropped collection has its records again"),
}
"""By name: the sessions that tell it, and the finding that tells of it."""


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    return (LIES[options["lie"]][0] if options else Forgetful)(Link(address))
