"""Exchanges a value by reading and writing: two clients are answered the same one."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class RacingValues(Values):
    def get_and_set(self, key: Key, record: Record) -> Record | None:
        before = self.get(key)
        self.put(key, record)
        return before


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": RacingValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
