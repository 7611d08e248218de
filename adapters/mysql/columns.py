"""Columns of MySQL and MariaDB that hold what is at a path of a document, for an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from storeproof.adapters.mysql.json import DOC, EXACT, Dialect, Sql, extract, sql
from storeproof.contract import Layout, Path
from storeproof.spec.model import Document, Integer, Object, Real

INDEXED = 191
"""Characters of a text that are indexed: of four bytes each, they fit into every engine's index."""


@dataclass(frozen=True)
class Column:
    """The numbers, or the beginnings of the texts, at a path."""

    name: str
    path: Path
    kind: str

    def definition(self, dialect: Dialect, condition: Sql | None = None) -> Sql:
        """The part of CREATE TABLE that makes the column, NULL where the condition does not hold.

        STORED, since Aria indexes no virtual one.
        """
        value = extract(DOC, self.path)
        kind = "DOUBLE" if self.kind == "number" else f"VARCHAR({INDEXED}) CHARACTER SET utf8mb4 COLLATE {dialect.collation}"
        made = dialect.number(value) if self.kind == "number" else sql(f"LEFT({{}}, {INDEXED})", dialect.text(value))
        if condition is not None:
            made = sql("IF({}, {}, NULL)", condition, made)
        return sql(f"`{self.name}` {kind} AS ({{}}) STORED", made)

    def stands_for(self, value: Any) -> bool:
        """Whether a comparison with the column is one with the value: numbers within 2**53, texts within its length."""
        if self.kind == "number":
            return type(value) in (int, float) and abs(value) < EXACT
        return isinstance(value, str) and len(value) < INDEXED


def column(layout: Layout, name: str, path: Path) -> Column:
    """A column of what the model has at a path: numbers or texts."""
    shape: Any = layout.model.record.shape if isinstance(layout.model.record, Document) else None
    for step in path:
        shape = shape.object.get(str(step)) if isinstance(shape, Object) else None
    return Column(name, path, "number" if isinstance(shape, (Integer, Real)) else "text")
