"""Values, hashes and counters of MySQL and MariaDB: LONGBLOB, ten nullable columns, BIGINT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymysql.constants import ER

from storeproof.adapters.mysql.link import Link, refused_with
from storeproof.adapters.mysql.records import Records
from storeproof.contract import Key, Layout, Refused


class Values(Records):
    """Opaque values: also Append."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options, {"v": "LONGBLOB NOT NULL"}, lambda value: (value,), lambda row: row[0])
        self._append = self._insert + self._row + " ON DUPLICATE KEY UPDATE v = CONCAT(v, VALUES(v))"

    def append(self, key: Key, value: bytes) -> None:
        self._link.run(self._append, (self._key(key), value))


class Hashes(Records):
    """Hashes, one nullable column a field: also Fields, FieldCounter."""

    _beginning = "(255)"  # of a BLOB never all

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str], fields: Sequence[str]) -> None:
        columns = dict.fromkeys(fields, "LONGBLOB NULL")
        super().__init__(link, layout, options, columns, self._to_columns, self._from_columns)

    def get_field(self, key: Key, field: str) -> bytes | None:
        self._link.run(f"SELECT {self._column(field)} FROM {self._table} WHERE k = %s", (self._key(key),))
        rows = self._link.rows()
        return rows[0][0] if rows else None

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        column = self._column(field)
        statement = f"INSERT INTO {self._table} (k, {column}) VALUES (%s, %s) ON DUPLICATE KEY UPDATE {column} = VALUES({column})"
        self._link.run(statement, (self._key(key), value))

    def delete_field(self, key: Key, field: str) -> bool:
        column = self._column(field)
        return self._link.run(f"UPDATE {self._table} SET {column} = NULL WHERE k = %s AND {column} IS NOT NULL", (self._key(key),)) == 1

    def increment_field(self, key: Key, field: str, by: int) -> int:
        column = self._column(field)
        number = f"COALESCE(CONVERT({column} USING latin1), '0')"
        # The server refuses NULL for a key: CAST alone may take what stands before the first letter for a number.
        statement = (
            f"INSERT INTO {self._table} (k, {column}) VALUES (%s, CAST(LAST_INSERT_ID(%s) AS SIGNED))"
            f" ON DUPLICATE KEY UPDATE k = IF({number} REGEXP '^-?[0-9]+$', k, NULL),"
            f" {column} = CAST(LAST_INSERT_ID(CAST({number} AS SIGNED) + %s) AS SIGNED)"
        )
        self._link.run(statement, (self._key(key), *[within_64_bits(by)] * 2))
        return self._link.last_number

    def _column(self, field: str) -> str:
        if field not in self._columns:
            raise Refused(f"the table has no column `{field}`; the statement was not sent")
        return f"`{field}`"

    def _to_columns(self, record: dict[str, bytes]) -> list[bytes | None]:
        for field in record:
            self._column(field)
        return [record.get(name) for name in self._columns]

    def _from_columns(self, row: Sequence[bytes | None]) -> dict[str, bytes]:
        return {name: value for name, value in zip(self._columns, row, strict=True) if value is not None}


class Counters(Records):
    """Numbers: also Counter, Procedures."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options, {"v": "BIGINT NOT NULL"}, lambda number: (number,), lambda row: row[0])
        # LAST_INSERT_ID(x) answers x and keeps it for the reply; it is unsigned, the column is not.
        self._add = (
            f"INSERT INTO {self._table} (k, v) VALUES (%s, CAST(LAST_INSERT_ID(%s) AS SIGNED))"
            " ON DUPLICATE KEY UPDATE v = CAST(LAST_INSERT_ID(v + %s) AS SIGNED)"
        )
        self._procedure = f"`{layout.name}_transfer`"
        self._transfer = f"CALL {self._procedure} (%s, %s, %s, @done); SELECT @done"

    def increment(self, key: Key, by: int) -> int:
        self._link.run(self._add, (self._key(key), *[within_64_bits(by)] * 2))
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
            f" INSERT INTO {self._table} (k, v) SELECT part.k, part.v"
            " FROM (SELECT source AS k, -amount AS v UNION ALL SELECT target, amount) AS part"
            f" JOIN {self._table} AS have ON have.k = source AND have.v >= amount FOR UPDATE"
            f" ON DUPLICATE KEY UPDATE v = {self._table}.v + VALUES(v);"
            " SET done = ROW_COUNT() > 0; END"
        )


def within_64_bits(by: int) -> int:
    """The number, as it is."""
    if not -(2**63) <= by < 2**63:
        raise Refused(f"{by} has more than 64 bits, at which LAST_INSERT_ID would begin anew; the statement was not sent")
    return by
