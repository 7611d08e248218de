"""Writes a hash in two statements: between them, others see half of it."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Hashes, SQLite
from storeproof.contract import Address, Key, Record


class TearingHashes(Hashes):
    def put(self, key: Key, record: Record) -> None:
        assert isinstance(record, dict)
        before = super().get(key)
        first = dict(list(record.items())[: len(record) // 2])
        if isinstance(before, dict) and first:
            super().put(key, {**before, **first})
        super().put(key, record)


class Mutant(SQLite):
    tables = {**SQLite.tables, "hash": TearingHashes}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
