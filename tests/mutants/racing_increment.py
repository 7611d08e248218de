"""Increments by reading and writing: two clients that read the same number lose one addition."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Counters, SQLite
from storeproof.contract import Address, Key


class RacingCounters(Counters):
    def increment(self, key: Key, by: int) -> int:
        before = self.get(key) or 0
        assert isinstance(before, int)
        self.put(key, before + by)
        return before + by


class Mutant(SQLite):
    tables = {**SQLite.tables, "counter": RacingCounters}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
