"""Takes a NUL byte for the end of a value."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class TruncatedValues(Values):
    def put(self, key: Key, record: Record) -> None:
        assert isinstance(record, bytes)
        super().put(key, record.split(b"\0")[0])


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": TruncatedValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
