"""Says that every key is there."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key


class EverythingExists(Values):
    def exists(self, key: Key) -> bool:
        return True


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": EverythingExists}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
