"""Inserts a batch if it has found none of its keys: of two clients that insert the same ones, both are told that they were new."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class RacingValues(Values):
    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        if any(map(self.exists, records)):
            return False
        self.put_many(records)
        return True


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": RacingValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
