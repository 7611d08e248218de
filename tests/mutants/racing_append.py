"""Appends by reading and writing: of two pieces that are added at once, one is lost."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key


class RacingValues(Values):
    def append(self, key: Key, value: bytes) -> None:
        before = self.get(key) or b""
        assert isinstance(before, bytes)
        self.put(key, before + value)


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": RacingValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
