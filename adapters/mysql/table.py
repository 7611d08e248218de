"""Tables of MySQL and MariaDB: a collection is one.

Text keys are VARBINARY (their UTF-8 bytes): exact, without the folding and padding of collations, and in code point order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pymysql.constants import ER

from storeproof.adapters.mysql.link import Link, refused_with
from storeproof.adapters.sql import table as sql
from storeproof.adapters.sql.dialect import Dialect
from storeproof.contract import Layout, Refused, Unsupported


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


KEY_BYTES = {"MyISAM": 1000, "Aria": 2300, "ndbcluster": 3070}
"""The longest index entry by engine, from the manuals, and for ndbcluster as tried; InnoDB's (DYNAMIC rows, 16 KiB pages) is 3072."""


_REPLICATIONS = {
    "group": "SELECT 1 FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE'",
    "replicas": "SHOW REPLICAS",
}
"""What shows something where a cluster replicates so."""
_TOO_MUCH = "738 'Record too big'"
"""What NDB says of a table whose rows have no room in its pages."""


def keeping(values: Mapping[str, str]) -> str:
    """An assignment of an UPDATE that changes nothing, and keeps values of the row in variables, by the variable.

    The key stays, and the servers have to work out all of the condition: MySQL leaves out what it need not know, and MariaDB mixes up
    the old and the new value of a BLOB that is assigned to itself.
    """
    return f"k = IF({' + '.join(f'COALESCE(LENGTH({variable} := {value}), 0)' for variable, value in values.items())} >= 0, k, k)"


class Table(sql.Table):
    dialect = DIALECT
    _link: Link

    _placed = ""
    """What CREATE TABLE says at its end."""

    unsupported_because: Mapping[str, str] = {
        **dict.fromkeys(
            ("Expiry", "ExpiryControl", "SweptExpiry"),
            "the server has no expiry of rows; an event that deletes them by the clock is the application's",
        ),
        "Feed": "changes are in the binary log, which is sent to replicas, not to SQL clients",
        "StoredSearches": "MATCH needs a constant search text, not one from a table of searches",
    }

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout)
        self._options = options
        self._key_type = f"VARBINARY({KEY_BYTES.get(link.engine, 3072)})" if self._text_keys else "BIGINT"

    def clear(self) -> None:
        self._link.define(f"DROP TABLE IF EXISTS {self._name}")

    def describe(self) -> dict[str, str]:
        rows = self._link.read(
            "SELECT engine, create_options, table_comment, (SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics AS s"
            " WHERE s.table_schema = t.table_schema AND s.table_name = t.table_name AND index_name REGEXP '^i[0-9]+$')"
            " FROM information_schema.tables AS t WHERE table_schema = DATABASE() AND table_name = %s",
            self._layout.name,
        )
        if not rows:
            raise Refused(f"there is no table {self._layout.name}")
        engine, created_with, comment, indexes = rows[0]
        if created_with is None:  # it cannot be opened, and the comment is the error
            raise Refused(f"{self._layout.name}: {comment}")
        live = {"engine": engine, **dict(word.split("=", 1) for word in created_with.split() if "=" in word)}
        if "replication" in self._options:
            wanted = self._options["replication"]
            live["replication"] = wanted if self._link.read(_REPLICATIONS[wanted]) else "none"
        return {"indexes": str(indexes), **{name: live[name] for name in self._options if name in live}}

    def _create(self, parts: Sequence[str], values: Sequence[Any] = ()) -> None:
        transactional = f" TRANSACTIONAL={self._options['transactional']}" if "transactional" in self._options else ""
        try:
            self._link.define(
                f"CREATE TABLE IF NOT EXISTS {self._name} ({', '.join(parts)})"
                f" ENGINE={self._link.engine}{transactional} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin{self._placed}",
                values,
            )
        except Refused as reason:
            if not refused_with(reason, ER.CANT_CREATE_TABLE):
                raise
            why = self._link.warnings()
            if _TOO_MUCH in why:
                raise Unsupported(f"a table of {len(parts)} columns and indexes: {why}") from None
            raise Refused(f"{reason}: {why}") from None
