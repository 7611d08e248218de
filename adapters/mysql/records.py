"""Whole records of MySQL and MariaDB: one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pymysql.constants import ER

from storeproof.adapters.mysql.link import Link, refused_with
from storeproof.adapters.mysql.table import Table, keeping, marks
from storeproof.contract import Cursor, Key, Layout, Record, Refused, Unknown, Unsupported


class Records(Table):
    """Whole records: KeyValue, Count, BatchRead, BatchWrite, Conditional, Swap, Ordered, Prefix, Walk."""

    _beginning = ""
    """How much of a column is in its index, as SQL writes it; nothing is all."""
    _given = "VALUES({0})"
    """What a column becomes where the statement finds a row to replace, as ON DUPLICATE KEY UPDATE writes it."""

    def __init__(
        self,
        link: Link,
        layout: Layout,
        options: Mapping[str, str],
        columns: Mapping[str, str],
        encode: Callable[[Any], Sequence[Any]],
        decode: Callable[[Sequence[Any]], Any],
    ) -> None:
        super().__init__(link, layout, options)
        self._columns = columns
        self._encode = encode
        self._decode = decode
        names = [f"`{name}`" for name in columns]
        listed = ", ".join(names)
        self._row = f"(%s, {marks(names)})"
        self._insert = f"INSERT INTO {self._table} (k, {listed}) VALUES "
        updates = ", ".join(f"{name} = {self._given.format(name)}" for name in names)
        self._or_replace = f" ON DUPLICATE KEY UPDATE {updates}"
        self._put = self._insert + self._row + self._or_replace
        self._get = f"SELECT {listed} FROM {self._table} WHERE k = %s"
        self._list = f"SELECT k, {listed} FROM {self._table}"
        self._keys = f"SELECT k FROM {self._table}"
        self._delete = f"DELETE FROM {self._table} WHERE k = %s"
        self._exists = f"SELECT 1 FROM {self._table} WHERE k = %s"
        self._count = f"SELECT COUNT(*) FROM {self._table}"
        assigned = ", ".join(f"{name} = %s" for name in names)
        self._replace = f"UPDATE {self._table} SET {assigned} WHERE k = %s AND {self._equals()}"
        # One statement does it, and leaves in variables what it found; the one behind it reads them.
        kept = keeping({f"@{name}": name for name in ["k", *names]})
        variables = ", ".join(f"@{name}" for name in ["k", *names])
        self._swap = f"SET @k = NULL; {self._insert}{self._row} ON DUPLICATE KEY UPDATE {kept}, {updates}; SELECT {variables}"

    def prepare(self) -> None:
        parts = [f"k {self._key_type} NOT NULL PRIMARY KEY", *(f"`{name}` {kind}" for name, kind in self._columns.items())]
        values: list[Any] = []
        for part, parameters in self._indexes():
            parts.append(part)
            values += parameters
        self._create(parts, values)

    def get(self, key: Key) -> Record | None:
        self._link.run(self._get, (self._key(key),))
        rows = self._link.rows()
        return self._decode(rows[0]) if rows else None

    def put(self, key: Key, record: Record) -> None:
        self._link.run(self._put, (self._key(key), *self._encode(record)))

    def delete(self, key: Key) -> bool:
        return self._link.run(self._delete, (self._key(key),)) == 1

    def exists(self, key: Key) -> bool:
        self._link.run(self._exists, (self._key(key),))
        return bool(self._link.rows())

    def count(self) -> int:
        with self._link.patient():
            self._link.run(self._count)
        number: int = self._link.rows()[0][0]
        return number

    def get_many(self, keys: Sequence[Key]) -> list[Record | None]:
        if not keys:
            return []
        wanted = [self._key(key) for key in keys]
        self._link.run(f"{self._list} WHERE k IN ({marks(wanted)})", wanted)
        found = {row[0]: self._decode(row[1:]) for row in self._link.rows()}
        return [found.get(key) for key in wanted]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        # In the order of the keys: batches that lock the same rows in different orders end in a deadlock.
        values = [value for key, record in sorted(records.items()) for value in (self._key(key), *self._encode(record))]
        self._of_many(self._insert + ", ".join([self._row] * len(records)) + self._or_replace, values)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        try:
            self._link.run(self._insert + self._row, (self._key(key), *self._encode(record)))
        except Refused as reason:
            # Not INSERT IGNORE: it also takes values that do not fit, and cuts them.
            if refused_with(reason, ER.DUP_ENTRY) and str(reason).endswith("PRIMARY'"):
                return False
            raise
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._link.run(self._replace, (*self._encode(record), self._key(key), *self._encode(expected))) == 1

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        where = "" if start is None else f" WHERE k {'<=' if backwards else '>='} %s"
        values = (count,) if start is None else (self._key(start), count)
        return self._page(f"{self._list}{where} ORDER BY k{' DESC' if backwards else ''} LIMIT %s", values)

    def scan_prefix(self, prefix: str, count: int) -> list[tuple[Key, Record]]:
        if not self._text:
            raise Unsupported("the keys are numbers, which begin with no text")
        pattern = self._key(prefix.replace("|", "||").replace("%", "|%").replace("_", "|_") + "%")
        return self._page(f"{self._list} WHERE k LIKE %s ESCAPE '|' ORDER BY k LIMIT %s", (pattern, count))

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, list[Key]]:
        values = (count,) if cursor is None else (self._key(cursor), count)
        self._link.run(f"{self._keys}{'' if cursor is None else ' WHERE k > %s'} ORDER BY k LIMIT %s", values)
        keys = [self._from_column(row[0]) for row in self._link.rows()]
        return keys[-1] if len(keys) == count else None, keys

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        self._link.run(self._swap, (self._key(key), *self._encode(record)))
        found, *columns = self._link.rows()[0]
        return None if found is None else self._decode(columns)

    def _of_many(self, statement: str, values: Sequence[Any]) -> int:
        """Run a statement that changes several rows."""
        try:
            return self._link.run(statement, values)
        except Refused as reason:
            if self._link.transactional or refused_with(reason, ER.SP_DOES_NOT_EXIST):
                raise
            raise Unknown(f"{reason}; {self._engine} keeps the rows that came before the one it refused") from reason

    def _page(self, statement: str, values: Sequence[Any]) -> list[tuple[Key, Record]]:
        self._link.run(statement, values)
        return [(self._from_column(row[0]), self._decode(row[1:])) for row in self._link.rows()]

    def _equals(self) -> str:
        """The condition that a record equals another; a column that is absent in both is equal."""
        return " AND ".join(f"`{name}` <=> %s" for name in self._columns)

    def _indexes(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """The parts of CREATE TABLE that make the layout's indexes, `i0`, `i1` ..., and their parameters."""
        for number, path in enumerate(self._layout.indexed):
            yield f"KEY i{number} (`{path[0]}`{self._beginning})", ()
