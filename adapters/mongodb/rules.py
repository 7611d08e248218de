"""What a collection of documents is told while it is in use: indexes and rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pymongo import ASCENDING
from pymongo.errors import OperationFailure

from storeproof.adapters.mongodb.filter import TYPES, is_plain, matching
from storeproof.adapters.mongodb.link import Stored, sorting
from storeproof.adapters.mongodb.records import Fielded
from storeproof.contract import Path, Unsupported
from storeproof.spec.model import Index
from storeproof.spec.query import TypeName

_NOT_FOUND: Final = frozenset({26, 27})
"""Codes: there is no such collection, no such index."""

_CANNOT_CREATE: Final = 67
"""Code: the definition of an index has something in it that indexes do not have."""


class Rules(Fielded):
    """Indexes and validation. The names of indexes that `prepare` made have the dot of their paths in them, and others have none."""

    def create_index(self, index: Index) -> None:
        """createIndexes, which comes back when the index is built. An index of MongoDB's has every item of a list in it anyway."""
        for path in index.paths:
            if not is_plain(path):
                raise Unsupported(f"MongoDB has no notation for an index on the path {list(path)}")
        options: dict[str, Any] = {"partialFilterExpression": matching(index.filter)} if index.filter else {}
        keys = [(self.root + ".".join(map(str, path)), ASCENDING) for path in index.paths]
        with sorting():
            try:
                self._collection.create_index(keys, name=index.name, unique=index.unique, **options)
            except OperationFailure as reason:
                if reason.code == _CANNOT_CREATE and index.filter:
                    raise Unsupported(
                        f"a partial index supports few operators, and none that excludes lists: {str(reason)[:200]}"
                    ) from reason
                raise

    def drop_index(self, name: str) -> bool:
        with sorting():
            try:
                self._collection.drop_index(name)
            except OperationFailure as reason:
                if reason.code not in _NOT_FOUND:
                    raise
                return False
        return True

    def index_names(self) -> Sequence[str]:
        with sorting():
            return sorted(name for name in self._collection.index_information() if name != "_id_" and "." not in name)

    def require(self, path: Path, kind: TypeName) -> None:
        """collMod with a `$jsonSchema` beside the rules that are there, which the server knows."""
        if not path or not all(isinstance(part, str) for part in path):
            raise Unsupported("a $jsonSchema has field names, but no single list positions")
        rule: Stored = {"bsonType": TYPES[kind]}
        for name in reversed(("d", *path)):
            rule = {"bsonType": "object", "required": [name], "properties": {name: rule}}
        with sorting():
            known = self._collection.options().get("validator")
            rules = [*([known] if known else []), {"$jsonSchema": rule}]
            self._link.database.command("collMod", self._layout.name, validator={"$and": rules}, validationLevel="strict")
