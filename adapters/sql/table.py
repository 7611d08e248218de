"""A collection is a table, in which the column `k` is the record's key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storeproof.adapters.sql.dialect import Dialect, Link
from storeproof.contract import Key, Layout


class Table:
    """What every collection has, whether a record is one row or several."""

    dialect: Dialect
    _link: Link

    def __init__(self, link: Link, layout: Layout) -> None:
        self._link = link
        self._layout = layout
        self._text_keys = layout.model.key == "text"
        self._name = self.dialect.table(layout.name)
        self._of_key = f"FROM {self._name} WHERE k = {self.dialect.mark}"

    def delete(self, key: Key) -> bool:
        return self._link.change(f"DELETE {self._of_key}", self._key(key)) > 0

    def exists(self, key: Key) -> bool:
        return bool(self._link.read(f"SELECT 1 {self._of_key} LIMIT 1", self._key(key)))

    def _key(self, key: Key) -> Any:
        return self.dialect.integer(key) if isinstance(key, int) else self.dialect.text(key, "key")

    def _key_of(self, stored: Any) -> Key:
        key: Key = self.dialect.to_text(stored) if self._text_keys else stored
        return key

    def _one(self, statement: str, *values: Any) -> Any:
        """The first column of the first row; None where there is no row."""
        rows: Sequence[Sequence[Any]] = self._link.read(statement, *values)
        return rows[0][0] if rows else None
