"""Whole records in one row each: values, hashes, rows and counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from psycopg.types.numeric import Float8, Int8

from storeproof.adapters.postgresql.feed import Followed
from storeproof.adapters.postgresql.link import Link, duplicates_a_key
from storeproof.adapters.sql import records
from storeproof.contract import Key, Layout, Record, Refused, Row, Unsupported
from storeproof.spec.model import Hash

_ARGUMENTS: Final = 100
"""Arguments of a function, at most (FUNC_MAX_ARGS)."""


class Records(Followed):
    """What they share: also BatchWrite, BatchInsert, Conditional, Swap, Prefix."""

    functions: tuple[str, ...] = ("swap", "tell")

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        names, kinds = self._names, list(self.columns.values())
        marks = [self.dialect.placeholder(kind) for kind in kinds]
        # One array a column, so that the statement, and with it its plan, is the same for every size of batch. jsonb goes as text.
        arrays = ", ".join(f"%s::{'text' if kind == 'jsonb' else kind}[]" for kind in kinds)
        taken = ", ".join(f"{name}::{kind}" for name, kind in zip(names, kinds, strict=True))
        listed = ", ".join(names)
        batch = f"unnest(%s::{self._key_type}[], {arrays}) AS r (k, {listed})"
        self._put_many = f"INSERT INTO {self._name} (k, {listed}) SELECT k, {taken} FROM {batch}{self._upsert(names)}"
        self._copy = f"COPY {self._name} (k, {listed}) FROM STDIN"
        assigned = ", ".join(f"{name} = {mark}" for name, mark in zip(names, marks, strict=True))
        equal = " AND ".join(f"{name} IS NOT DISTINCT FROM {mark}" for name, mark in zip(names, marks, strict=True))
        self._set_if = f"UPDATE {self._name} SET {assigned} WHERE k = %s AND {equal}"
        self._swaps = len(names) < _ARGUMENTS  # one more is the key
        self._swap = f"SELECT {self._selected} FROM {self._own('swap')}{self._row}"

    def definitions(self) -> Sequence[str]:
        null = "" if isinstance(self._layout.model.record, Hash) else " NOT NULL"
        columns = [f"k {self._key_type} PRIMARY KEY", *(f'"{name}" {kind}{null}' for name, kind in self.columns.items()), *self._derived()]
        indexes = [
            f"CREATE INDEX IF NOT EXISTS {self._own(f'i{number}')} ON {self._name} ({self._indexed(path)})"
            for number, path in enumerate(self._layout.indexed)
        ]
        return [self._new_table(self._name, ", ".join(columns)), *indexes, *([self._swapping()] if self._swaps else [])]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        self._link.change(self._put_many, *[list(column) for column in zip(*self._rows(records), strict=True)])

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """COPY, as pg_restore does it."""
        try:
            self._link.copy(self._copy, self._rows(records))
        except Refused as reason:
            if duplicates_a_key(reason):
                return False
            raise
        return True

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._link.change(f"{self._insert} ON CONFLICT (k) DO NOTHING", self._key(key), *self.encode(record)) == 1

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._link.change(self._set_if, *self.encode(record), self._key(key), *self.encode(expected)) == 1

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        if not self._swaps:
            raise Unsupported(f"a function has at most {_ARGUMENTS} arguments, and the record {len(self.columns)} columns")
        rows = self._link.read(self._swap, self._key(key), *self.encode(record))
        return self.decode(rows[0]) if rows else None

    def _rows(self, records: Mapping[Key, Record]) -> list[Sequence[Any]]:
        """In the order of the keys: batches that lock the same rows in different orders end in a deadlock."""
        return [(self._key(key), *self.encode(record)) for key, record in sorted(records.items())]

    def _rows_of(self, keys: Sequence[Any]) -> Sequence[Sequence[Any]]:
        return self._link.read(f"{self._list} WHERE k = ANY (%s::{self._key_type}[])", list(keys))

    def _prefixed(self, prefix: str) -> tuple[str, Sequence[Any]]:
        start = self._key(prefix)
        return "k >= %s AND k < %s", (start, start + b"\xff")  # UTF-8 has no such byte

    def _derived(self) -> Sequence[str]:
        """The definitions of columns that the server computes of the others."""
        return []

    def _indexed(self, path: tuple[str, ...]) -> str:
        """What an index on the path is made of."""
        return f'"{path[0]}"'

    def _swapping(self) -> str:
        """A function. INSERT ... ON CONFLICT has no way to answer what was there, before PostgreSQL 18.

        In a function every statement sees what was committed before it, so that it goes round once more where another session was first.
        """
        columns = {f'"{name}"': kind for name, kind in self.columns.items()}
        values = [f"${number}" for number in range(2, len(columns) + 2)]
        assigned = ", ".join(f"{name} = {value}" for name, value in zip(columns, values, strict=True))
        before = f"SELECT k, {', '.join(columns)} FROM {self._name} WHERE k = $1 FOR UPDATE"
        answered = ", ".join(f"before.{name}" for name in columns)
        return self._new_function(
            "swap",
            ", ".join([self._key_type, *columns.values()]),
            f"TABLE ({', '.join(f'{name} {kind}' for name, kind in columns.items())})",
            "plpgsql",
            f"#variable_conflict use_column\nBEGIN LOOP RETURN QUERY UPDATE {self._name} AS t SET {assigned} FROM ({before}) AS before"
            f" WHERE t.k = before.k RETURNING {answered}; EXIT WHEN FOUND; INSERT INTO {self._name} (k, {', '.join(columns)})"
            f" VALUES ($1, {', '.join(values)}) ON CONFLICT (k) DO NOTHING; EXIT WHEN FOUND; END LOOP; END",
        )


class Values(Records, records.Values):
    """Opaque values: also Append."""

    columns: Mapping[str, str] = {"v": "bytea"}

    def append(self, key: Key, value: bytes) -> None:
        self._link.change(
            f"INSERT INTO {self._name} AS t (k, v) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE SET v = t.v || EXCLUDED.v",
            self._key(key),
            value,
        )


class Rows(Records, records.Rows):
    columns: Mapping[str, str] = {"integer": "integer", "real": "double precision"}

    def encode(self, record: Row) -> Sequence[Any]:
        return Int8(record.integer), Float8(record.real)


class Hashes(Records, records.Hashes):
    """Hashes: also FieldCounter."""

    bytes_type = "bytea"

    def increment_field(self, key: Key, field: str, by: int) -> int:
        column = self._column(field)
        was, added = (f"convert_from({value}, 'UTF8')::bigint" for value in (f"t.{column}", f"EXCLUDED.{column}"))
        total: int = self._one(
            f"INSERT INTO {self._name} AS t (k, {column}) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE"
            f" SET {column} = convert_to((COALESCE({was}, 0) + {added})::text, 'UTF8') RETURNING convert_from({column}, 'UTF8')::bigint",
            self._key(key),
            b"%d" % by,
        )
        return total


class Counters(Records, records.Counters):
    """Numbers: also Counter, Procedures."""

    columns: Mapping[str, str] = {"v": "bigint"}
    functions = (*Records.functions, "transfer")

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options)
        add = "ON CONFLICT (k) DO UPDATE SET v = c.v + EXCLUDED.v"
        self._add = f"INSERT INTO {self._name} AS c (k, v) VALUES (%s, %s) {add} RETURNING v"
        self._transferring = self._new_function(
            "transfer",
            f"source {self._key_type}, target {self._key_type}, amount bigint",
            "boolean",
            "plpgsql",
            # Both are locked in the order of the keys, or two transfers in opposite directions would wait for each other.
            f"BEGIN PERFORM FROM {self._name} WHERE k IN (source, target) ORDER BY k FOR UPDATE;"
            f" UPDATE {self._name} SET v = v - amount WHERE k = source AND v >= amount;"
            f" IF NOT FOUND AND amount > 0 THEN RETURN FALSE; END IF;"
            f" IF NOT FOUND THEN INSERT INTO {self._name} (k, v) VALUES (source, -amount) ON CONFLICT (k) DO NOTHING;"
            f" IF NOT FOUND THEN RETURN FALSE; END IF; END IF;"
            f" INSERT INTO {self._name} AS c (k, v) VALUES (target, amount) {add}; RETURN TRUE; END",
        )

    def definitions(self) -> Sequence[str]:
        return [*super().definitions(), self._transferring]

    def increment(self, key: Key, by: int) -> int:
        total: int = self._one(self._add, self._key(key), Int8(by))
        return total

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        statement = f"SELECT {self._own('transfer')}(%s, %s, %s)"
        done: bool = self._one(statement, self._key(source), self._key(target), Int8(amount))
        return done
