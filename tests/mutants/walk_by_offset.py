"""Walks by counting: a key that is deleted on the way makes the next part begin one too late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Cursor, Key


class CountedValues(Values):
    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        done = int(cursor or 0)
        found = self._link.read(f"SELECT k FROM {self._name} ORDER BY k LIMIT ? OFFSET ?", count, done)
        return done + count if len(found) == count else None, [row[0] for row in found]


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": CountedValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
