"""Sets several fields of a hash in two statements: between them, others see half of the update."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Hashes, SQLite
from storeproof.contract import Address, Key


class TearingHashes(Hashes):
    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        some = list(values.items())
        super().set_fields(key, dict(some[: len(some) // 2]))
        super().set_fields(key, dict(some[len(some) // 2 :]))


class Mutant(SQLite):
    tables = {**SQLite.tables, "hash": TearingHashes}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
