"""PostgreSQL's own way with what all SQL stores have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from psycopg.types.numeric import Int8

from storeproof.adapters.sql.dialect import Dialect


class _Dialect(Dialect):
    def placeholder(self, kind: str) -> str:
        return f"%s::{kind}"

    def selected(self, name: str, kind: str) -> str:
        """jsonb comes as text: what is null in JSON is then not NULL in SQL."""
        return f"{self.column(name)}::text" if kind == "jsonb" else self.column(name)

    def upsert(self, columns: Sequence[str]) -> str:
        return f" ON CONFLICT (k) DO UPDATE SET {', '.join(f'{name} = EXCLUDED.{name}' for name in columns)}"

    def integer(self, number: int) -> Int8:
        """With one type for every size there is one prepared statement."""
        return Int8(number)


DIALECT: Final = _Dialect()
