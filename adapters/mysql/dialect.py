"""The way of MySQL and MariaDB with what all SQL stores have. `json.py` has the functions of JSON, in which the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storeproof.adapters.sql.dialect import Dialect


class _Dialect(Dialect):
    def table(self, name: str) -> str:
        return f"`{name}`"

    column = table

    def placeholders(self, kinds: Sequence[str]) -> str:
        return self.marks(len(kinds))

    def marks(self, count: int) -> str:
        return ",".join([self.mark] * count)

    def upsert(self, columns: Sequence[str]) -> str:
        return f" ON DUPLICATE KEY UPDATE {', '.join(f'{name} = VALUES({name})' for name in columns)}"

    def above(self, row: Sequence[str], other: Sequence[str]) -> str:
        """No index serves a comparison of rows in MySQL; it is written out for two columns."""
        return f"({row[0]} > {other[0]} OR {row[0]} = {other[0]} AND {row[1]} > {other[1]})"


DIALECT: Final = _Dialect()
