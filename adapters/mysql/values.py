"""Values, hashes and counters of MySQL and MariaDB: LONGBLOB, ten nullable columns, BIGINT."""

from __future__ import annotations

from collections.abc import Mapping

from pymysql.constants import ER

from storeproof.adapters.mysql.link import Link, refused_with
from storeproof.adapters.mysql.records import Records
from storeproof.adapters.sql import records
from storeproof.contract import Key, Layout, Refused


class Values(Records, records.Values):
    """Opaque values: also Append."""

    columns: Mapping[str, str] = {"v": "LONGBLOB NOT NULL"}

    def append(self, key: Key, value: bytes) -> None:
        self._link.change(f"{self._insert} ON DUPLICATE KEY UPDATE v = CONCAT(v, VALUES(v))", self._key(key), value)


class Rows(Records, records.Rows):
    columns: Mapping[str, str] = {"integer": "INT NOT NULL", "real": "DOUBLE NOT NULL"}


class Hashes(Records, records.Hashes):
    """Hashes: also FieldCounter."""

    bytes_type = "LONGBLOB NULL"
    _beginning = "(255)"  # of a BLOB never all

    def increment_field(self, key: Key, field: str, by: int) -> int:
        column = self._column(field)
        number = f"COALESCE(CONVERT({column} USING latin1), '0')"
        # The server refuses NULL for a key: CAST alone may take what stands before the first letter for a number.
        statement = (
            f"INSERT INTO {self._name} (k, {column}) VALUES (%s, CAST(LAST_INSERT_ID(%s) AS SIGNED))"
            f" ON DUPLICATE KEY UPDATE k = IF({number} REGEXP '^-?[0-9]+$', k, NULL),"
            f" {column} = CAST(LAST_INSERT_ID(CAST({number} AS SIGNED) + %s) AS SIGNED)"
        )
        self._link.change(statement, self._key(key), *[within_64_bits(by)] * 2)
        return self._link.last_number


class Counters(Records, records.Counters):
    """Numbers: also Counter, Procedures."""

    columns: Mapping[str, str] = {"v": "BIGINT NOT NULL"}

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        # LAST_INSERT_ID(x) answers x and keeps it for the reply; it is unsigned, the column is not.
        self._add = (
            f"INSERT INTO {self._name} (k, v) VALUES (%s, CAST(LAST_INSERT_ID(%s) AS SIGNED))"
            " ON DUPLICATE KEY UPDATE v = CAST(LAST_INSERT_ID(v + %s) AS SIGNED)"
        )
        self._procedure = f"`{layout.name}_transfer`"
        self._transfer = f"CALL {self._procedure} (%s, %s, %s, @done); SELECT @done"

    def increment(self, key: Key, by: int) -> int:
        self._link.change(self._add, self._key(key), *[within_64_bits(by)] * 2)
        return self._link.last_number

    def clear(self) -> None:
        super().clear()
        self._link.define(f"DROP PROCEDURE IF EXISTS {self._procedure}")

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        values = (self._key(source), self._key(target), within_64_bits(amount))
        try:
            self._of_many(self._transfer, values)
        except Refused as reason:
            if not refused_with(reason, ER.SP_DOES_NOT_EXIST):
                raise
            self._make_procedure()
            self._of_many(self._transfer, values)
        return bool(self._link.rows()[0][0])

    def _make_procedure(self) -> None:
        """One statement moves the amount, so that all of it is undone together, in a transaction of the client too.

        It inserts both changes, or none if the source has too little, and adds them to what is there.
        """
        self._link.define(
            f"CREATE PROCEDURE IF NOT EXISTS {self._procedure}"
            f" (source {self._key_type}, target {self._key_type}, amount BIGINT, OUT done BOOLEAN) BEGIN"
            f" INSERT INTO {self._name} (k, v) SELECT part.k, part.v"
            " FROM (SELECT source AS k, -amount AS v UNION ALL SELECT target, amount) AS part"
            f" JOIN {self._name} AS have ON have.k = source AND have.v >= amount FOR UPDATE"
            f" ON DUPLICATE KEY UPDATE v = {self._name}.v + VALUES(v);"
            " SET done = ROW_COUNT() > 0; END"
        )


def within_64_bits(by: int) -> int:
    """The number, as it is."""
    if not -(2**63) <= by < 2**63:
        raise Refused(f"{by} has more than 64 bits, at which LAST_INSERT_ID wraps around; the statement was not sent")
    return by
