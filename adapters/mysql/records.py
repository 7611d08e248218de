"""Whole records of MySQL and MariaDB: one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pymysql import IntegrityError
from pymysql.constants import ER

from storeproof.adapters.mysql.link import Link, refused_with
from storeproof.adapters.mysql.table import Table, keeping
from storeproof.adapters.sql import records
from storeproof.contract import Key, Layout, Record, Refused, Unknown


class Records(Table, records.Records):
    """What they share: also BatchWrite, BatchInsert, Conditional, Swap, Prefix."""

    _beginning = ""
    """How much of a column is in its index, as SQL writes it; nothing is all."""

    _given = "VALUES({0})"
    """What a column becomes where the statement finds a row to replace, as ON DUPLICATE KEY UPDATE writes it."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        assigned = ", ".join(f"{name} = %s" for name in self._names)
        self._replace = f"UPDATE {self._name} SET {assigned} WHERE k = %s AND {self._equals()}"
        # One statement does it, and leaves in variables what it found; the one behind it reads them.
        kept = keeping({f"@{name}": name for name in ["k", *self._names]})
        variables = ", ".join(f"@{name}" for name in ["k", *self._names])
        self._swap = f"SET @k = NULL; {self._insert}{self._upsert(self._names, f'{kept}, ')}; SELECT {variables}"

    def prepare(self) -> None:
        parts = [f"k {self._key_type} NOT NULL PRIMARY KEY", *(f"`{name}` {kind}" for name, kind in self.columns.items())]
        values: list[Any] = []
        for part, parameters in self._indexes():
            parts.append(part)
            values += parameters
        self._create(parts, values)

    def count(self) -> int:
        with self._link.patient():
            return super().count()

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if records:
            self._of_many(*self._insertion(records, self._upsert(self._names)))

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """One INSERT of all rows, as mysqldump and mariadb-dump write it."""
        try:
            if records:
                self._of_many(*self._insertion(records))
        except (Refused, Unknown) as reason:
            if _duplicates_a_key(reason):
                return False
            raise
        return True

    def put_if_absent(self, key: Key, record: Record) -> bool:
        try:
            self._link.change(self._insert, self._key(key), *self.encode(record))
        except Refused as reason:
            if _duplicates_a_key(reason):
                return False
            raise
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._link.change(self._replace, *self.encode(record), self._key(key), *self.encode(expected)) == 1

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        found, *columns = self._link.read(self._swap, self._key(key), *self.encode(record))[0]
        return None if found is None else self.decode(columns)

    def _insertion(self, records: Mapping[Key, Record], ending: str = "") -> tuple[str, Sequence[Any]]:
        """A statement that inserts rows, and its values.

        In the order of the keys: batches that lock the same rows in different orders end in a deadlock.
        """
        values = [value for key, record in sorted(records.items()) for value in (self._key(key), *self.encode(record))]
        rows = ", ".join([self._row] * len(records))
        return f"{self._insert.removesuffix(self._row)}{rows}{ending}", values

    def _of_many(self, statement: str, values: Sequence[Any]) -> int:
        """Run a statement that changes several rows."""
        try:
            return self._link.change(statement, *values)
        except Refused as reason:
            if self._link.transactional or refused_with(reason, ER.SP_DOES_NOT_EXIST):
                raise
            raise Unknown(f"{reason}; {self._link.engine} keeps the rows before the refused one") from reason.__cause__

    def _upsert(self, names: Sequence[str], first: str = "") -> str:
        """`first`: assignments before those of the columns."""
        return f" ON DUPLICATE KEY UPDATE {first}{', '.join(f'{name} = {self._given.format(name)}' for name in names)}"

    def _prefixed(self, prefix: str) -> tuple[str, Sequence[Any]]:
        return "k LIKE %s ESCAPE '|'", [self._key(prefix.replace("|", "||").replace("%", "|%").replace("_", "|_") + "%")]

    def _equals(self) -> str:
        """The condition that a record equals another; a column that is absent in both is equal."""
        return " AND ".join(f"{name} <=> %s" for name in self._names)

    def _indexes(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """The parts of CREATE TABLE that make the layout's indexes, `i0`, `i1` ..., and their parameters."""
        for number, path in enumerate(self._layout.indexed):
            yield f"KEY i{number} (`{path[0]}`{self._beginning})", ()


def _duplicates_a_key(reason: Refused | Unknown) -> bool:
    """Whether the server refused a row because its table has one with the same primary key.

    INSERT IGNORE would not ask: it also takes values that do not fit, and cuts them.
    """
    cause = reason.__cause__
    return isinstance(cause, IntegrityError) and cause.args[0] == ER.DUP_ENTRY and str(cause.args[1]).endswith("PRIMARY'")
