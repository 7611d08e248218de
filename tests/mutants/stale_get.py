"""Answers from a cache that no write invalidates."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Layout, Record


class CachedValues(Values):
    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._cache: dict[Key, Record] = {}

    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        self._cache.setdefault(key, record)

    def get(self, key: Key) -> Record | None:
        return self._cache.get(key, super().get(key))


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": CachedValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
