"""What a collection of documents is told while it is in use: indexes and rules."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.adapters.postgresql.jsonb import indexed
from storeproof.adapters.postgresql.link import sqlstate
from storeproof.adapters.postgresql.query import TYPES, Sql
from storeproof.adapters.postgresql.table import Table
from storeproof.contract import Path, Refused, Unsupported
from storeproof.spec.model import Index
from storeproof.spec.query import TypeName

_LONGEST_NAME = 63
"""Bytes; what is longer PostgreSQL cuts off."""

_NOT_THERE = "42704"
"""undefined_object."""
_NOT_IN_AN_INDEX = ("0A000", "42P17")
"""feature_not_supported, invalid_object_definition: a subquery, or what is not the same for ever."""


class Rules(Table):
    """Indexing, Validation."""

    def create_index(self, index: Index) -> None:
        """Not CONCURRENTLY, which lets others write meanwhile, takes longer, and leaves something of an index that it could not make."""
        if len(self._index(index.name).encode()) > _LONGEST_NAME + len('""'):
            raise Unsupported(f"a name has at most {_LONGEST_NAME} bytes, and {self._index(index.name)} has more")
        if index.unique and index.each:
            raise Unsupported("an index of items of lists (GIN) cannot be unique")
        try:
            self._define(index)
        except Refused as reason:
            if sqlstate(reason) in _NOT_IN_AN_INDEX:
                raise Unsupported(f"not possible in an index of PostgreSQL: {reason}") from reason
            raise

    def drop_index(self, name: str) -> bool:
        try:
            self._link.run(f"DROP INDEX {self._index(name)}", prepare=False)
        except Refused as reason:
            if sqlstate(reason) == _NOT_THERE:
                return False
            raise
        return True

    def index_names(self) -> Sequence[str]:
        prefix = f"{self._layout.name}_i_"
        rows = self._link.read(
            "SELECT substr(relname, length(%s::text) + 1)::text FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid"
            " WHERE indrelid = to_regclass(%s) AND indisvalid AND relname ^@ %s::text",
            prefix,
            self._name,
            prefix,
        )
        return sorted(row[0] for row in rows)

    def require(self, path: Path, kind: TypeName) -> None:
        sql = Sql(self._layout)
        # A CHECK lets pass what is NULL.
        condition = f"(jsonb_typeof({sql.at('doc', path).json}) = {sql.add(TYPES[kind])}::text) IS TRUE"
        self._link.define(f"ALTER TABLE {sql.table} ADD CHECK ({condition})", sql.values)

    def _define(self, index: Index) -> None:
        """Unique are values of every type; elsewhere an index is of what requests compare and sort by."""
        sql = Sql(self._layout)
        where = sql.where(index)
        if index.each:
            kind, of = "USING gin", [f"({sql.at('doc', path).json}) jsonb_path_ops" for path in index.paths]
        else:
            kind, of = "", [f"({sql.at('doc', path).json})" if index.unique else f"({indexed(self._layout, path)})" for path in index.paths]
        made = f"CREATE {'UNIQUE ' if index.unique else ''}INDEX {self._index(index.name)} ON {sql.table} {kind} ({', '.join(of)}){where}"
        self._link.define(made, sql.values)

    def _index(self, name: str) -> str:
        return self._own(f"i_{name}".replace('"', '""').replace("%", "%%"))
