"""Takes a time to live and forgets about it."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class EternalValues(Values):
    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self.put(key, record)


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": EternalValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
