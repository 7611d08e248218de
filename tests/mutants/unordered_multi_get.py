"""Answers a multi-get in the order in which the table has the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class UnorderedValues(Values):
    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        return super().get_many(sorted(keys, key=str))


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": UnorderedValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
