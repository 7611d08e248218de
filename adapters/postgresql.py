"""PostgreSQL, through psycopg 3: one prepared statement per operation, autocommit, values in binary where they are bytes.

A collection is one table. Text keys are bytea (their UTF-8 bytes): exact and in code point order as `text COLLATE "C"` would be,
but `text` takes no NUL. Values are bytea, a hash is ten nullable columns, a document is jsonb.

Options of a variant:
    persistence: "permanent" (default) or "unlogged".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.types.numeric import Float8, Int8

from storeproof.adapters import postgresql_query as requests
from storeproof.adapters.postgresql_jsonb import Arguments, indexed, place, to_json, with_value, without
from storeproof.contract import (
    MISSING,
    Address,
    Collection,
    Found,
    Json,
    Key,
    Layout,
    Missing,
    Path,
    Record,
    Refused,
    Row,
    Unknown,
    Version,
)
from storeproof.spec.model import Counter, Document, Hash, Value
from storeproof.spec.query import Aggregation, Browse, Query, Where

DATABASE = "postgres"
"""Used where the address names none; every server has it."""

TIMEOUT = 5
"""Seconds to wait for a connection, and for each answer."""

PERSISTENCE = {"p": "permanent", "u": "unlogged"}
"""How pg_class.relpersistence writes the option."""

_NEVER = (
    "authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "permission denied",
    "does not support SSL",
)
"""What libpq says, in its only form, a text, of a connection that will not be had later either."""

_DUPLICATE = ("23505", "42P07", "42710")
"""unique_violation (in the catalogue), duplicate_table, duplicate_object."""

RV = TypeVar("RV")


class _TimedOut(psycopg.OperationalError):
    """No answer came in time."""


class _Connection(psycopg.Connection[Any]):
    """A connection that does not wait for ever; libpq has no time limit for answers."""

    def wait(self, gen: Generator[Any, Any, RV], *args: Any, **named: Any) -> RV:
        try:
            return super().wait(_within(gen), *args, **named)
        except _TimedOut:
            self.pgconn.finish()  # the answer may still come, and would be taken for the next one's
            raise


def _within(gen: Generator[Any, Any, RV]) -> Generator[Any, Any, RV]:
    """The same waits, until time is up. psycopg sends 0 after each interval, a tenth of a second, in which nothing came."""
    end = monotonic() + TIMEOUT
    try:
        awaited = next(gen)
        while True:
            ready = yield awaited
            if not ready and monotonic() > end:
                raise _TimedOut(f"no answer within {TIMEOUT} seconds")
            awaited = gen.send(ready)
    except StopIteration as done:
        answer: RV = done.value
        return answer


def connect(address: Address, options: Mapping[str, str]) -> Session:
    """One session in autocommit mode. Raises `Refused` for wrong credentials or database, `Unknown` while nobody answers."""
    try:
        connection = _Connection.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            dbname=address.database or DATABASE,
            sslmode="require" if address.tls else "disable",
            gssencmode="disable",
            connect_timeout=TIMEOUT,
            client_encoding="utf-8",
            application_name="storeproof",
            autocommit=True,
        )
    except psycopg.Error as reason:
        text = str(reason)
        raise (Refused(text) if any(words in text for words in _NEVER) else Unknown(text)) from reason
    return Session(connection, options)


def _sorted(reason: psycopg.Error) -> Refused | Unknown:
    """Whether the statement definitely did not happen.

    ERROR means that the statement was undone: in autocommit it is a transaction of its own, so that also a deadlock, a cancelled
    statement or a full disk leaves nothing of it. FATAL and PANIC end the session (a shutdown), and a lost connection says nothing:
    the commit may have been written before.
    """
    text = f"{reason.sqlstate}: {reason}" if reason.sqlstate else str(reason)
    if reason.diag.severity_nonlocalized == "ERROR":
        return Refused(text)
    if isinstance(reason, psycopg.DataError) and reason.sqlstate is None:
        return Refused(f"{text}; the statement was not sent")  # psycopg could not write a value: NUL in a text
    return Unknown(text)


class Session:
    """One connection."""

    def __init__(self, connection: _Connection, options: Mapping[str, str]) -> None:
        self._connection = connection
        self._cursor = connection.cursor(binary=True)
        self._options = options

    def version(self) -> Version:
        self.run("SELECT version()")
        # Relatives that speak the protocol put their own name there: "CockroachDB CCL v24.1".
        product, number = self.rows()[0][0].split()[:2]
        return Version(product, number)

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        # As this session has them: a role or a database may have its own. Written as SHOW writes them.
        self.run("SELECT name, current_setting(name, true) FROM unnest(%s::text[]) AS asked (name)", (list(names),))
        return {name: value for name, value in self.rows() if value is not None}

    def collection(self, layout: Layout) -> Collection:
        record = layout.model.record
        if isinstance(record, Value):
            return Records(self, layout, self._options, {"v": "bytea"}, lambda value: (value,), lambda row: row[0])
        if isinstance(record, Hash):
            return Hashes(self, layout, self._options, record.fields)
        if isinstance(record, Document):
            return Documents(self, layout, self._options)
        if isinstance(record, Counter):
            return Counters(self, layout, self._options)
        columns = {"integer": "integer", "real": "double precision"}
        return Records(self, layout, self._options, columns, lambda row: (Int8(row[0]), Float8(row[1])), Row._make)

    def close(self) -> None:
        try:
            self._connection.close()
        except (psycopg.Error, OSError):
            return  # the server is gone: either way it has ended

    def run(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = (), prepare: bool = True) -> int:
        """Send one statement and wait for its answer; the number of rows found or changed."""
        if self._connection.closed:
            raise Refused("the connection is closed; the request never left")
        try:
            return self._cursor.execute(statement, values, prepare=prepare).rowcount
        except psycopg.Error as reason:
            raise _sorted(reason) from reason
        except (UnicodeEncodeError, OverflowError) as reason:
            raise Refused(f"{reason}; the statement was not sent") from reason

    def rows(self) -> Sequence[tuple[Any, ...]]:
        """The rows that the last statement answered."""
        return self._cursor.fetchall()


class Records:
    """Whole records: KeyValue, Count, BatchRead, BatchWrite, Conditional, Ordered."""

    def __init__(
        self,
        session: Session,
        layout: Layout,
        options: Mapping[str, str],
        columns: Mapping[str, str],
        encode: Callable[[Any], Sequence[Any]],
        decode: Callable[[Sequence[Any]], Any],
    ) -> None:
        self._session = session
        self._layout = layout
        self._options = options
        self._columns = columns
        self._encode = encode
        self._decode = decode
        self._text = layout.model.key == "text"
        self._table = f'"{layout.name}"'
        key_type = "bytea" if self._text else "bigint"
        self._definition = [
            f"k {key_type} PRIMARY KEY",
            *(f'"{name}" {kind}{"" if isinstance(layout.model.record, Hash) else " NOT NULL"}' for name, kind in columns.items()),
        ]
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
        batch = f"unnest(%s::{key_type}[], {arrays}) AS r (k, {listed})"
        self._put_many = f"INSERT INTO {self._table} (k, {listed}) SELECT k, {taken} FROM {batch}{replace}"
        self._get = f"SELECT {read} FROM {self._table} WHERE k = %s"
        self._list = f"SELECT k, {read} FROM {self._table}"
        self._get_many = f"{self._list} WHERE k = ANY (%s::{key_type}[])"
        self._delete = f"DELETE FROM {self._table} WHERE k = %s"
        self._exists = f"SELECT 1 FROM {self._table} WHERE k = %s"
        self._count = f"SELECT count(*) FROM {self._table}"
        assigned = ", ".join(f"{name} = {mark}" for name, mark in zip(names, marks, strict=True))
        equal = " AND ".join(f"{name} IS NOT DISTINCT FROM {mark}" for name, mark in zip(names, marks, strict=True))
        self._swap = f"UPDATE {self._table} SET {assigned} WHERE k = %s AND {equal}"

    def prepare(self) -> None:
        unlogged = "UNLOGGED " if self._options.get("persistence") == "unlogged" else ""
        self._make(f"CREATE {unlogged}TABLE IF NOT EXISTS {self._table} ({', '.join(self._definition)})")
        for number, path in enumerate(self._layout.indexed):
            name = f'"{self._layout.name}_i{number}"'
            self._make(f"CREATE INDEX IF NOT EXISTS {name} ON {self._table} ({self._indexed(path)})")

    def clear(self) -> None:
        self._session.run(f"DROP TABLE IF EXISTS {self._table}", prepare=False)

    def describe(self) -> dict[str, str]:
        self._session.run(
            "SELECT relpersistence::text, (SELECT count(*) FROM pg_index WHERE indrelid = c.oid AND indisvalid AND NOT indisprimary)"
            " FROM pg_class AS c WHERE oid = to_regclass(%s)",
            (self._table,),
        )
        rows = self._session.rows()
        if not rows:
            raise Refused(f"there is no table {self._layout.name}")
        persistence, indexes = rows[0]
        live = {"persistence": PERSISTENCE.get(persistence, persistence)}
        return {"indexes": str(indexes), **{name: live[name] for name in self._options if name in live}}

    def get(self, key: Key) -> Record | None:
        self._session.run(self._get, (self._key(key),))
        rows = self._session.rows()
        return self._decode(rows[0]) if rows else None

    def put(self, key: Key, record: Record) -> None:
        self._session.run(self._put, (self._key(key), *self._encode(record)))

    def delete(self, key: Key) -> bool:
        return self._session.run(self._delete, (self._key(key),)) == 1

    def exists(self, key: Key) -> bool:
        self._session.run(self._exists, (self._key(key),))
        return bool(self._session.rows())

    def count(self) -> int:
        self._session.run(self._count)
        number: int = self._session.rows()[0][0]
        return number

    def get_many(self, keys: Sequence[Key]) -> list[Record | None]:
        if not keys:
            return []
        wanted = [self._key(key) for key in keys]
        self._session.run(self._get_many, (wanted,))
        found = {row[0]: self._decode(row[1:]) for row in self._session.rows()}
        return [found.get(key) for key in wanted]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        # In the order of the keys: batches that lock the same rows in different orders end in a deadlock.
        rows = [(self._key(key), *self._encode(record)) for key, record in sorted(records.items())]
        self._session.run(self._put_many, [list(column) for column in zip(*rows, strict=True)])

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._session.run(self._insert, (self._key(key), *self._encode(record))) == 1

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._session.run(self._swap, (*self._encode(record), self._key(key), *self._encode(expected))) == 1

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        where = "" if start is None else f" WHERE k {'<=' if backwards else '>='} %s"
        values = (Int8(count),) if start is None else (self._key(start), Int8(count))
        self._session.run(f"{self._list}{where} ORDER BY k{' DESC' if backwards else ''} LIMIT %s", values)
        return [(self._key_of(row[0]), self._decode(row[1:])) for row in self._session.rows()]

    def _key_of(self, written: Any) -> Key:
        key: Key = written.decode() if self._text else written
        return key

    def _key(self, key: Key) -> bytes | Int8:
        if isinstance(key, int):
            return Int8(key)  # one type for every size, and with it one prepared statement
        try:
            return key.encode()
        except UnicodeEncodeError as reason:
            raise Refused(f"the key is not a string of Unicode scalar values: {reason}") from reason

    def _indexed(self, path: tuple[str, ...]) -> str:
        """What an index on the path is made of."""
        return f'"{path[0]}"'

    def _make(self, statement: str) -> None:
        try:
            self._session.run(statement, prepare=False)
        except Refused as reason:
            # IF NOT EXISTS looks, and then makes: another session may have been between.
            if not isinstance(reason.__cause__, psycopg.Error) or reason.__cause__.sqlstate not in _DUPLICATE:
                raise


class Hashes(Records):
    """Hashes, one nullable column a field: also Fields."""

    def __init__(self, session: Session, layout: Layout, options: Mapping[str, str], fields: Sequence[str]) -> None:
        super().__init__(session, layout, options, dict.fromkeys(fields, "bytea"), self._to_columns, self._from_columns)

    def get_field(self, key: Key, field: str) -> bytes | None:
        self._session.run(f"SELECT {self._column(field)} FROM {self._table} WHERE k = %s", (self._key(key),))
        rows = self._session.rows()
        return rows[0][0] if rows else None

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        column = self._column(field)
        statement = f"INSERT INTO {self._table} (k, {column}) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE SET {column} = EXCLUDED.{column}"
        self._session.run(statement, (self._key(key), value))

    def delete_field(self, key: Key, field: str) -> bool:
        column = self._column(field)
        return self._session.run(f"UPDATE {self._table} SET {column} = NULL WHERE k = %s AND {column} IS NOT NULL", (self._key(key),)) == 1

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


class Documents(Records):
    """JSON documents: also Paths, Find, Aggregate, Facets, Bulk."""

    def __init__(self, session: Session, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(session, layout, options, {"doc": "jsonb"}, lambda document: (to_json(document),), lambda row: json.loads(row[0]))

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        found = Arguments()
        statement = f"SELECT ({place('doc', path, found.add).json})::text FROM {self._table} WHERE k = {found.add(self._key(key))}"
        self._session.run(statement, found.values)
        rows = self._session.rows()
        if not rows or rows[0][0] is None:
            return MISSING
        part: Json = json.loads(rows[0][0])
        return part

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(key, arguments := Arguments(), with_value(path, value, arguments))

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._change(key, arguments := Arguments(), without(path, arguments))

    def find(self, query: Query) -> list[tuple[Key, dict[str, Json]]]:
        self._ask(requests.find(self._layout, query))
        return [(self._key_of(row[0]), requests.part_of(query.fields, row[1:])) for row in self._session.rows()]

    def count_where(self, where: Where) -> int:
        self._ask(requests.count_where(self._layout, where))
        number: int = self._session.rows()[0][0]
        return number

    def aggregate(self, aggregation: Aggregation) -> list[dict[str, Json]]:
        self._ask(requests.aggregate(self._layout, aggregation))
        return [json.loads(row[0]) for row in self._session.rows()]

    def browse(self, browse: Browse) -> Found:
        self._ask(requests.browse(self._layout, browse))
        ((total, keys, *facets),) = self._session.rows()
        counted = {
            name: [(value, count) for value, count in map(json.loads, facet)] for name, facet in zip(browse.facets, facets, strict=True)
        }
        return Found(total, [self._key_of(key) for key in keys], counted)

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        return self._ask(requests.update_where(self._layout, where, path, value))

    def delete_where(self, where: Where) -> int:
        return self._ask(requests.delete_where(self._layout, where))

    def _ask(self, statement: requests.Statement) -> int:
        """Not prepared: every request is another, and is planned with its arguments known."""
        return self._session.run(statement.text, statement.arguments, prepare=False)

    def _change(self, key: Key, arguments: Arguments, changed: str) -> bool:
        return (
            self._session.run(f"UPDATE {self._table} SET doc = {changed} WHERE k = {arguments.add(self._key(key))}", arguments.values) == 1
        )

    def _indexed(self, path: tuple[str, ...]) -> str:
        return indexed(self._layout, path)


class Counters(Records):
    """Numbers: also Counter."""

    def __init__(self, session: Session, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(session, layout, options, {"v": "bigint"}, lambda number: (Int8(number),), lambda row: row[0])
        self._add = f"INSERT INTO {self._table} AS c (k, v) VALUES (%s, %s) ON CONFLICT (k) DO UPDATE SET v = c.v + EXCLUDED.v RETURNING v"

    def increment(self, key: Key, by: int) -> int:
        self._session.run(self._add, (self._key(key), Int8(by)))
        total: int = self._session.rows()[0][0]
        return total
