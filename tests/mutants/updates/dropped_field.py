"""Forgets the last field of about every second update of several fields."""

from __future__ import annotations

import random
from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Hashes, SQLite
from storeproof.contract import Address, Key


class ForgetfulHashes(Hashes):
    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        some = list(values.items())
        super().set_fields(key, dict(some[:-1] if len(some) > 1 and random.random() < 0.5 else some))


class Mutant(SQLite):
    tables = {**SQLite.tables, "hash": ForgetfulHashes}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
