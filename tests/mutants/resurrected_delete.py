"""Keeps deletes in the memory of the store's process: what was deleted is back after a restart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Layout, Record

_MEMORY = "file:deleted?mode=memory&cache=shared"


class ForgetfulValues(Values):
    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        if not any(row[1] == "deleted" for row in link.read("PRAGMA database_list")):
            link.read(f"ATTACH '{_MEMORY}' AS deleted")
            link.read("PRAGMA deleted.read_uncommitted = 1")
        link.write("CREATE TABLE IF NOT EXISTS deleted.keys (name TEXT, k TEXT, PRIMARY KEY (name, k))")

    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        self._link.write("DELETE FROM deleted.keys WHERE name = ? AND k = ?", self._layout.name, key)

    def delete(self, key: Key) -> bool:
        there = self.exists(key)
        if there:
            self._link.write("INSERT OR IGNORE INTO deleted.keys VALUES (?, ?)", self._layout.name, key)
        return there

    def get(self, key: Key) -> Record | None:
        return None if self._deleted(key) else super().get(key)

    def exists(self, key: Key) -> bool:
        return not self._deleted(key) and super().exists(key)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        return [self.get(key) for key in keys]

    def _deleted(self, key: Key) -> bool:
        return bool(self._link.read("SELECT 1 FROM deleted.keys WHERE name = ? AND k = ?", self._layout.name, key))


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": ForgetfulValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
