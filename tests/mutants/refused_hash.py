"""Refuses one hash in five, for no reason: so few are left that a reader hardly meets a write."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Hashes, SQLite
from storeproof.contract import Address, Key, Record, Refused


class RefusingHashes(Hashes):
    def put(self, key: Key, record: Record) -> None:
        if crc32(repr(record).encode()) % 5 == 0:
            raise Refused("not this one")
        super().put(key, record)


class Mutant(SQLite):
    tables = {**SQLite.tables, "hash": RefusingHashes}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
