"""Sets several paths of a document by reading it and writing it whole: of two updates at once, one is lost."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Documents, SQLite
from storeproof.contract import Address, Json, Key, Path


class RacingDocuments(Documents):
    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        if any(len(path) > 1 for path in values):
            return super().set_paths(key, values)
        before = self.get(key)
        if not isinstance(before, dict):
            return False
        self.put(key, {**before, **{str(name): value for (name,), value in values.items()}})  # type: ignore[dict-item]  # a document
        return True


class Mutant(SQLite):
    tables = {**SQLite.tables, "document": RacingDocuments}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
