"""Compares and sets by reading and writing: two clients that expect the same value both win."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class RacingValues(Values):
    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        if self.get(key) != expected:
            return False
        self.put(key, record)
        return True


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": RacingValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
