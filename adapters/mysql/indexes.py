"""Indexes that MySQL and MariaDB get while a table is in use, and rules for its documents.

MariaDB indexes columns only, so that in both an index is on columns that the server works out: for a search the values themselves, as
in `mysql_columns`; for uniqueness a hash of the whole value, whatever its type and length. A column is NULL where the index's filter
does not hold: NULL is never equal. So records without one of the values break no rule either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storeproof.adapters.mysql.columns import INDEXED, Column, column
from storeproof.adapters.mysql.filter import Filters
from storeproof.adapters.mysql.json import DOC, Dialect, MySql, Sql, extract, joined, json_path, of_type, sql
from storeproof.adapters.mysql.link import Link
from storeproof.contract import Layout, Path, Unsupported
from storeproof.spec.model import Document, Index, List
from storeproof.spec.query import TypeName

_OWN = "x_"
"""What the names of these indexes begin with in the server; `i0`, `i1` ... are the layout's."""


class Indexes:
    """The indexes of one collection that were not made with it."""

    def __init__(self, link: Link, layout: Layout, dialect: Dialect) -> None:
        self._link = link
        self._layout = layout
        self._dialect = dialect
        self._table = Sql(f"`{layout.name}`")
        self._filters = Filters(dialect, lambda path: extract(DOC, path), {}, exact=layout.model.decimals)

    def create(self, index: Index) -> dict[Path, Column]:
        """Make it; the columns that stand in for its paths in a search."""
        name = f"{_OWN}{index.name}"
        if index.each:
            self._define(self._on_items(name, index))
            return {}
        columns = [column(self._layout, f"{name}_{number}", path) for number, path in enumerate(index.paths)]
        if not index.unique and index.filter is None:
            self._add(index, name, [(each.name, each.definition(self._dialect)) for each in columns])
            return {each.path: each for each in columns}
        condition = self._filters.sql(index.filter)
        if "SELECT" in condition.text:
            raise Unsupported("a generated column cannot depend on the items of a list")
        made = [
            (each.name, self._unique(each, condition) if index.unique else each.definition(self._dialect, condition)) for each in columns
        ]
        self._add(index, name, made)
        return {}

    def drop(self, name: str) -> bool:
        """Take it away with its columns."""
        columns = [row[0] for row in self._of_server("column_name", "index_name = %s", f"{_OWN}{name}")]
        parts = [f"DROP KEY `{_OWN}{name}`", *(f"DROP COLUMN `{column}`" for column in columns if column is not None)]
        if columns:
            self._define(sql("ALTER TABLE {} {}", self._table, Sql(", ".join(parts))))
        return bool(columns)

    def names(self) -> list[str]:
        found = self._of_server("DISTINCT index_name", "index_name LIKE %s ESCAPE '|'", f"{_OWN[:-1]}|_%")
        return sorted(row[0].removeprefix(_OWN) for row in found)

    def require(self, path: Path, kind: TypeName) -> None:
        """A rule that the server checks with every write; it refuses to make one that records break."""
        self._define(sql("ALTER TABLE {} ADD CHECK (({}) IS TRUE)", self._table, of_type(extract(DOC, path), kind)))

    def _add(self, index: Index, name: str, columns: Sequence[tuple[str, Sql]]) -> None:
        """Columns and index in one statement: if the records break it, nothing is left."""
        parts = [sql("ADD COLUMN {}", definition) for _, definition in columns]
        listed = ", ".join(f"`{column}`" for column, _ in columns)
        parts.append(Sql(f"ADD {'UNIQUE ' if index.unique else ''}KEY `{name}` ({listed})"))
        self._define(sql("ALTER TABLE {} {}", self._table, joined(", ", parts)))

    def _unique(self, column: Column, condition: Sql) -> Sql:
        identity = self._dialect.identity(extract(DOC, column.path))
        return sql(f"`{column.name}` BINARY(32) AS (IF({{}}, UNHEX(SHA2({{}}, 256)), NULL)) STORED", condition, identity)

    def _on_items(self, name: str, index: Index) -> Sql:
        """Items of a type that the model does not have in the list are refused by the server from then on."""
        if not isinstance(self._dialect, MySql) or self._link.engine != "InnoDB":
            raise Unsupported("only MySQL's InnoDB has indexes on the items of a list")
        if len(index.paths) > 1 or index.filter is not None:
            raise Unsupported("an index on list items has one path here, and covers all records")
        shape: Any = self._layout.model.record.shape if isinstance(self._layout.model.record, Document) else None
        for step in index.paths[0]:
            shape = shape.object.get(str(step)) if hasattr(shape, "object") else None
        of_numbers = isinstance(shape, List) and not hasattr(shape.of, "text")
        kind = Sql("DOUBLE" if of_numbers else f"CHAR({INDEXED})")
        items = sql("CAST(JSON_EXTRACT(doc, {}) AS {} ARRAY)", json_path(index.paths[0]), kind)
        return sql(f"CREATE {'UNIQUE ' if index.unique else ''}INDEX `{name}` ON {{}} (({{}}))", self._table, items)

    def _define(self, statement: Sql) -> None:
        self._link.define(statement.text, statement.values)

    def _of_server(self, column: str, condition: str, value: str) -> Sequence[tuple[Any, ...]]:
        return self._link.read(
            f"SELECT {column} FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = %s AND {condition}",
            self._layout.name,
            value,
        )
