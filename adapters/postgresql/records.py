"""Whole records in one row each: values, hashes, rows and counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from psycopg.types.numeric import Int8

from storeproof.adapters.postgresql.feed import Followed
from storeproof.adapters.postgresql.link import Link
from storeproof.contract import Cursor, Key, Layout, Record, Refused, Unsupported
from storeproof.spec.model import Hash

_ARGUMENTS: Final = 100
"""Of a function, at most (FUNC_MAX_ARGS)."""


class Records(Followed):
    """KeyValue, Count, BatchRead, BatchWrite, Conditional, Swap, Ordered, Prefix, Walk."""

    functions: tuple[str, ...] = ("swap", "tell")

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
        names = [f'"{name}"' for name in columns]
        types = list(columns.values())
        listed = ", ".join(names)
        # jsonb goes and comes as text: what is null in JSON is then not NULL in SQL.
        read = ", ".join(f"{name}::text" if kind == "jsonb" else name for name, kind in zip(names, types, strict=True))
        marks = [f"%s::{kind}" for kind in types]
        replace = " ON CONFLICT (k) DO UPDATE SET " + ", ".join(f"{name} = EXCLUDED.{name}" for name in names)
        insert = f"INSERT INTO {self._table} (k, {listed}) VALUES (%s, {', '.join(marks)})"
        self._put = insert + replace
        self._insert = insert + " ON CONFLICT (k) DO NOTHING"
        # One array a column, so that the statement, and with it its plan, is the same for every size of batch.
        arrays = ", ".join(f"%s::{'text' if kind == 'jsonb' else kind}[]" for kind in types)
        taken = ", ".join(f"{name}::{kind}" for name, kind in zip(names, types, strict=True))
        batch = f"unnest(%s::{self._key_type}[], {arrays}) AS r (k, {listed})"
        self._put_many = f"INSERT INTO {self._table} (k, {listed}) SELECT k, {taken} FROM {batch}{replace}"
        self._get = f"SELECT {read} FROM {self._table} WHERE k = %s"
        self._list = f"SELECT k, {read} FROM {self._table}"
        self._get_many = f"{self._list} WHERE k = ANY (%s::{self._key_type}[])"
        assigned = ", ".join(f"{name} = {mark}" for name, mark in zip(names, marks, strict=True))
        equal = " AND ".join(f"{name} IS NOT DISTINCT FROM {mark}" for name, mark in zip(names, marks, strict=True))
        self._set_if = f"UPDATE {self._table} SET {assigned} WHERE k = %s AND {equal}"
        self._swaps = len(columns) < _ARGUMENTS  # one more is the key
        self._swap = f"SELECT {read} FROM {self._own('swap')}(%s, {', '.join(marks)})"

    def definitions(self) -> Sequence[str]:
        null = "" if isinstance(self._layout.model.record, Hash) else " NOT NULL"
        columns = [f"k {self._key_type} PRIMARY KEY", *(f'"{name}" {kind}{null}' for name, kind in self._columns.items()), *self._derived()]
        indexes = [
            f"CREATE INDEX IF NOT EXISTS {self._own(f'i{number}')} ON {self._table} ({self._indexed(path)})"
            for number, path in enumerate(self._layout.indexed)
        ]
        return [self._new_table(self._table, ", ".join(columns)), *indexes, *([self._swapping()] if self._swaps else [])]

    def get(self, key: Key) -> Record | None:
        self._link.run(self._get, (self._key(key),))
        rows = self._link.rows()
        return self._decode(rows[0]) if rows else None

    def put(self, key: Key, record: Record) -> None:
        self._link.run(self._put, (self._key(key), *self._encode(record)))

    def get_many(self, keys: Sequence[Key]) -> list[Record | None]:
        if not keys:
            return []
        wanted = [self._key(key) for key in keys]
        self._link.run(self._get_many, (wanted,))
        found = {row[0]: self._decode(row[1:]) for row in self._link.rows()}
        return [found.get(key) for key in wanted]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        # In the order of the keys: batches that lock the same rows in different orders end in a deadlock.
        rows = [(self._key(key), *self._encode(record)) for key, record in sorted(records.items())]
        self._link.run(self._put_many, [list(column) for column in zip(*rows, strict=True)])

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._link.run(self._insert, (self._key(key), *self._encode(record))) == 1

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._link.run(self._set_if, (*self._encode(record), self._key(key), *self._encode(expected))) == 1

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        if not self._swaps:
            raise Unsupported(f"a function has at most {_ARGUMENTS} arguments, and the record {len(self._columns)} columns")
        self._link.run(self._swap, (self._key(key), *self._encode(record)))
        rows = self._link.rows()
        return self._decode(rows[0]) if rows else None

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        where = "" if start is None else f" WHERE k {'<=' if backwards else '>='} %s"
        values = () if start is None else (self._key(start),)
        return self._listed(f"{where} ORDER BY k{' DESC' if backwards else ''}", *values, count=count)

    def scan_prefix(self, prefix: str, count: int) -> list[tuple[Key, Record]]:
        if not self._text:
            raise Unsupported("the keys are numbers, which do not begin with a text")
        start = self._key(prefix)
        assert isinstance(start, bytes)
        return self._listed(" WHERE k >= %s AND k < %s ORDER BY k", start, start + b"\xff", count=count)  # UTF-8 has no such byte

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, list[Key]]:
        where = "" if cursor is None else " WHERE k > %s"
        values = () if cursor is None else (self._key(cursor),)
        self._link.run(f"SELECT k FROM {self._table}{where} ORDER BY k LIMIT %s", (*values, Int8(count)))
        keys = [self._key_of(row[0]) for row in self._link.rows()]
        return keys[-1] if len(keys) == count else None, keys

    def _listed(self, which: str, *values: Any, count: int) -> list[tuple[Key, Record]]:
        self._link.run(f"{self._list}{which} LIMIT %s", (*values, Int8(count)))
        return [(self._key_of(row[0]), self._decode(row[1:])) for row in self._link.rows()]

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
        columns = {f'"{name}"': kind for name, kind in self._columns.items()}
        values = [f"${number}" for number in range(2, len(columns) + 2)]
        assigned = ", ".join(f"{name} = {value}" for name, value in zip(columns, values, strict=True))
        before = f"SELECT k, {', '.join(columns)} FROM {self._table} WHERE k = $1 FOR UPDATE"
        answered = ", ".join(f"before.{name}" for name in columns)
        return self._new_function(
            "swap",
            ", ".join([self._key_type, *columns.values()]),
            f"TABLE ({', '.join(f'{name} {kind}' for name, kind in columns.items())})",
            "plpgsql",
            f"#variable_conflict use_column\nBEGIN LOOP RETURN QUERY UPDATE {self._table} AS t SET {assigned} FROM ({before}) AS before"
            f" WHERE t.k = before.k RETURNING {answered}; EXIT WHEN FOUND; INSERT INTO {self._table} (k, {', '.join(columns)})"
            f" VALUES ($1, {', '.join(values)}) ON CONFLICT (k) DO NOTHING; EXIT WHEN FOUND; END LOOP; END",
        )


class Values(Records):
    """Opaque values: also Append."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options, {"v": "bytea"}, lambda value: (value,), lambda row: row[0])

    def append(self, key: Key, value: bytes) -> None:
        self._link.run(
            f"INSERT INTO {self._table} AS t (k, v) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE SET v = t.v || EXCLUDED.v",
            (self._key(key), value),
        )


class Hashes(Records):
    """Hashes, one nullable column a field: also Fields, FieldCounter."""

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str], fields: Sequence[str]) -> None:
        super().__init__(link, layout, options, dict.fromkeys(fields, "bytea"), self._to_columns, self._from_columns)

    def get_field(self, key: Key, field: str) -> bytes | None:
        value: bytes | None = self._one(f"SELECT {self._column(field)} FROM {self._table} WHERE k = %s", self._key(key))
        return value

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        column = self._column(field)
        statement = f"INSERT INTO {self._table} (k, {column}) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE SET {column} = EXCLUDED.{column}"
        self._link.run(statement, (self._key(key), value))

    def delete_field(self, key: Key, field: str) -> bool:
        column = self._column(field)
        return self._link.run(f"UPDATE {self._table} SET {column} = NULL WHERE k = %s AND {column} IS NOT NULL", (self._key(key),)) == 1

    def increment_field(self, key: Key, field: str, by: int) -> int:
        column = self._column(field)
        was, added = (f"convert_from({value}, 'UTF8')::bigint" for value in (f"t.{column}", f"EXCLUDED.{column}"))
        total: int = self._one(
            f"INSERT INTO {self._table} AS t (k, {column}) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE"
            f" SET {column} = convert_to((COALESCE({was}, 0) + {added})::text, 'UTF8') RETURNING convert_from({column}, 'UTF8')::bigint",
            self._key(key),
            b"%d" % by,
        )
        return total

    def _column(self, field: str) -> str:
        if field not in self._columns:
            raise Refused(f"the table has no column `{field}`; the statement was not sent")
        return f'"{field}"'

    def _to_columns(self, record: dict[str, bytes]) -> list[bytes | None]:
        for field in record:
            self._column(field)
        return [record.get(name) for name in self._columns]

    def _from_columns(self, row: Sequence[bytes | None]) -> dict[str, bytes]:
        return {name: value for name, value in zip(self._columns, row, strict=True) if value is not None}


class Counters(Records):
    """Numbers: also Counter, Procedures."""

    functions = (*Records.functions, "transfer")

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(link, layout, options, {"v": "bigint"}, lambda number: (Int8(number),), lambda row: row[0])
        add = "ON CONFLICT (k) DO UPDATE SET v = c.v + EXCLUDED.v"
        self._add = f"INSERT INTO {self._table} AS c (k, v) VALUES (%s, %s) {add} RETURNING v"
        self._transferring = self._new_function(
            "transfer",
            f"source {self._key_type}, target {self._key_type}, amount bigint",
            "boolean",
            "plpgsql",
            # Both are locked in the order of the keys, or two transfers in opposite directions would wait for each other.
            f"BEGIN PERFORM FROM {self._table} WHERE k IN (source, target) ORDER BY k FOR UPDATE;"
            f" UPDATE {self._table} SET v = v - amount WHERE k = source AND v >= amount;"
            f" IF NOT FOUND AND amount > 0 THEN RETURN FALSE; END IF;"
            f" IF NOT FOUND THEN INSERT INTO {self._table} (k, v) VALUES (source, -amount) ON CONFLICT (k) DO NOTHING;"
            f" IF NOT FOUND THEN RETURN FALSE; END IF; END IF;"
            f" INSERT INTO {self._table} AS c (k, v) VALUES (target, amount) {add}; RETURN TRUE; END",
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
