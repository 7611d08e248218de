"""What all collections share: a table with the key `k`, its definition, and what belongs to it under its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from psycopg.types.numeric import Int8

from storeproof.adapters.postgresql.link import Link
from storeproof.adapters.sql import table as sql
from storeproof.adapters.sql.dialect import Dialect
from storeproof.contract import Layout, Refused


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


PERSISTENCE = {"p": "permanent", "u": "unlogged"}
"""How pg_class.relpersistence writes the option."""


class Table(sql.Table):
    """A table, under whose name in front of theirs there may be further tables, indexes and functions."""

    dialect = DIALECT
    _link: Link
    unsupported_because: Mapping[str, str] = dict.fromkeys(
        ("Expiry", "ExpiryControl", "SweptExpiry"),
        "PostgreSQL has no expiry of rows",
    )
    functions: tuple[str, ...] = ()
    """The ends of the names of functions that belong to it."""
    further: tuple[str, ...] = ()
    """The ends of the names of tables that belong to it."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout)
        self._options = options
        self._key_type = "bytea" if self._text_keys else "bigint"

    def definitions(self) -> Sequence[str]:
        """The statements that make it all, each of which does nothing where that is there."""
        raise NotImplementedError

    def prepare(self) -> None:
        for statement in self.definitions():
            self._link.make(statement)

    def clear(self) -> None:
        if self.functions:
            self._link.run(f"DROP FUNCTION IF EXISTS {', '.join(map(self._own, self.functions))} CASCADE", prepare=False)  # with a trigger
        self._link.run(f"DROP TABLE IF EXISTS {', '.join([*map(self._own, self.further), self._name])}", prepare=False)

    def describe(self) -> dict[str, str]:
        # The indexes for text search and for places, and that of a ranking, come with their models.
        rows = self._link.read(
            "SELECT relpersistence::text, current_setting('wal_level'),"
            " (SELECT count(*) FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid"
            " WHERE indrelid = c.oid AND indisvalid AND i.relname ^@ %s) FROM pg_class AS c WHERE oid = to_regclass(%s)",
            f"{self._layout.name}_i",
            self._name,
        )
        if not rows:
            raise Refused(f"there is no table {self._layout.name}")
        persistence, level, indexes = rows[0]
        changes = "decoding" if level == "logical" and self._options.get("changes") == "decoding" else "notifications"
        live = {"persistence": PERSISTENCE.get(persistence, persistence), "changes": changes}
        return {"indexes": str(indexes), **{name: live[name] for name in self._options if name in live}}

    def _new_table(self, name: str, columns: str) -> str:
        unlogged = "UNLOGGED " if self._options.get("persistence") == "unlogged" else ""
        return f"CREATE {unlogged}TABLE IF NOT EXISTS {name} ({columns})"

    def _new_function(self, ending: str, arguments: str, answer: str, language: str, body: str) -> str:
        """There is no CREATE FUNCTION IF NOT EXISTS, and OR REPLACE fails where two sessions are at it. The arguments are $1, $2 ..."""
        name = self._own(ending)
        made = f"CREATE FUNCTION {name} ({arguments}) RETURNS {answer} LANGUAGE {language} AS $body$ {body} $body$"
        return f"DO $do$ BEGIN IF to_regproc('{name}') IS NULL THEN {made}; END IF; END $do$"

    def _own(self, ending: str) -> str:
        return f'"{self._layout.name}_{ending}"'
