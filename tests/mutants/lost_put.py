"""Acknowledges every put and does all but each fifth."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record

_numbers = itertools.count(1)


class LosingValues(Values):
    def put(self, key: Key, record: Record) -> None:
        if next(_numbers) % 5:
            super().put(key, record)


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": LosingValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
