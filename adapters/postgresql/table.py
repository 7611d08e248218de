"""What all collections share: a table with the key `k`, its definition, and what belongs to it under its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.numeric import Int8

from storeproof.adapters.postgresql.link import Link
from storeproof.contract import Key, Layout, Refused

PERSISTENCE = {"p": "permanent", "u": "unlogged"}
"""How pg_class.relpersistence writes the option."""


class Table:
    """A table, under whose name in front of theirs there may be further tables, indexes and functions."""

    unsupported_because: Mapping[str, str] = dict.fromkeys(
        ("Expiry", "ExpiryControl"),
        "a row of PostgreSQL ends when it is deleted, and nothing in PostgreSQL deletes by the clock",
    )
    functions: tuple[str, ...] = ()
    """The ends of the names of functions that belong to it."""
    further: tuple[str, ...] = ()
    """The ends of the names of tables that belong to it."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        self._link = link
        self._layout = layout
        self._options = options
        self._text = layout.model.key == "text"
        self._key_type = "bytea" if self._text else "bigint"
        self._table = f'"{layout.name}"'

    def definitions(self) -> Sequence[str]:
        """The statements that make it all, each of which does nothing where that is there."""
        raise NotImplementedError

    def prepare(self) -> None:
        for statement in self.definitions():
            self._link.make(statement)

    def clear(self) -> None:
        if self.functions:
            self._link.run(f"DROP FUNCTION IF EXISTS {', '.join(map(self._own, self.functions))} CASCADE", prepare=False)  # with a trigger
        self._link.run(f"DROP TABLE IF EXISTS {', '.join([*map(self._own, self.further), self._table])}", prepare=False)

    def describe(self) -> dict[str, str]:
        # The indexes for text search and for places, and that of a ranking, come with their models.
        self._link.run(
            "SELECT relpersistence::text, current_setting('wal_level'),"
            " (SELECT count(*) FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid"
            " WHERE indrelid = c.oid AND indisvalid AND i.relname ^@ %s) FROM pg_class AS c WHERE oid = to_regclass(%s)",
            (f"{self._layout.name}_i", self._table),
        )
        rows = self._link.rows()
        if not rows:
            raise Refused(f"there is no table {self._layout.name}")
        persistence, level, indexes = rows[0]
        changes = "decoding" if level == "logical" and self._options.get("changes") == "decoding" else "notifications"
        live = {"persistence": PERSISTENCE.get(persistence, persistence), "changes": changes}
        return {"indexes": str(indexes), **{name: live[name] for name in self._options if name in live}}

    def delete(self, key: Key) -> bool:
        return self._link.run(f"DELETE FROM {self._table} WHERE k = %s", (self._key(key),)) == 1

    def exists(self, key: Key) -> bool:
        self._link.run(f"SELECT 1 FROM {self._table} WHERE k = %s LIMIT 1", (self._key(key),))
        return bool(self._link.rows())

    def count(self) -> int:
        number: int = self._one(f"SELECT count(*) FROM {self._table}")
        return number

    def _one(self, statement: str, *values: Any) -> Any:
        """The first column of the only row, None where there is no row."""
        self._link.run(statement, values)
        rows = self._link.rows()
        return rows[0][0] if rows else None

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

    def _key_of(self, written: Any) -> Key:
        key: Key = written.decode() if self._text else written
        return key

    def _key(self, key: Key) -> bytes | Int8:
        return Int8(key) if isinstance(key, int) else to_bytes(key, "key")  # one type for every size, and with it one prepared statement


def to_bytes(text: str, what: str) -> bytes:
    """Text as it is kept: its UTF-8 bytes."""
    try:
        return text.encode()
    except UnicodeEncodeError as reason:
        raise Refused(f"the {what} is not a string of Unicode scalar values: {reason}") from reason
