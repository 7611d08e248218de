"""SQLite's own way with what all SQL stores have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from storeproof.adapters.sql.dialect import Dialect


class _Dialect(Dialect):
    mark = "?"

    def column(self, name: str) -> str:
        return name

    def upsert(self, columns: Sequence[str]) -> str:
        return f" ON CONFLICT(k) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in columns)}"

    def text(self, text: str, what: str) -> str:  # noqa: ARG002
        return text

    def to_text(self, stored: Any) -> str:
        text: str = stored
        return text


DIALECT: Final = _Dialect()
