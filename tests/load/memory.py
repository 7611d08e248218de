"""A collection in memory, as a base for those that do something wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.contract import Key, Record


class Memory:
    """Keeps records in a dict; offers whole records, batches and a count."""

    def __init__(self) -> None:
        self.records: dict[Key, Record] = {}

    def prepare(self) -> None:
        """Nothing to do."""

    def clear(self) -> None:
        """Forget all."""
        self.records.clear()

    def describe(self) -> Mapping[str, str]:
        """No indexes."""
        return {"indexes": "0"}

    def get(self, key: Key) -> Record | None:
        """The record."""
        return self.records.get(key)

    def put(self, key: Key, record: Record) -> None:
        """Keep the record."""
        self.records[key] = record

    def delete(self, key: Key) -> bool:
        """Forget the record."""
        return self.records.pop(key, None) is not None

    def exists(self, key: Key) -> bool:
        """Whether it is there."""
        return key in self.records

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """In order."""
        return [self.records.get(key) for key in keys]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """Keep all."""
        self.records.update(records)

    def count(self) -> int:
        """How many."""
        return len(self.records)
