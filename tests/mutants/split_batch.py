"""Writes a batch record by record: a kill in the middle leaves a part of it."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Hashes, SQLite, Values
from storeproof.contract import Address, Key, Record


class SplitValues(Values):
    def put_many(self, records: Mapping[Key, Record]) -> None:
        for key, record in records.items():
            self.put(key, record)


class SplitHashes(Hashes):
    def put_many(self, records: Mapping[Key, Record]) -> None:
        for key, record in records.items():
            self.put(key, record)


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": SplitValues, "hash": SplitHashes}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
