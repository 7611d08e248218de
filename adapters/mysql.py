"""MySQL and MariaDB, through PyMySQL: one statement per operation, autocommit.

A collection is one table. Text keys are VARBINARY (their UTF-8 bytes): exact, without the folding and padding of collations,
and in code point order. Values are LONGBLOB, a hash is ten nullable columns, a document is a JSON column.

Options of a variant:
    engine: the storage engine of the tables, as `information_schema` spells it; default InnoDB.
    transactional: "1" or "0", for Aria.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pymysql
from pymysql.constants import CLIENT, ER

from storeproof.adapters.mysql_json import DOC, Sql, extract, removed, replaced, sql, to_json
from storeproof.adapters.mysql_query import Requests
from storeproof.contract import MISSING, Address, Collection, Json, Key, Layout, Missing, Path, Record, Refused, Row, Unknown, Version
from storeproof.contract.values import Found
from storeproof.spec.model import Counter, Document, Hash, Value
from storeproof.spec.query import Aggregation, Browse, Query, Where

DATABASE = "storeproof"
"""Used where the address names none; the launches in `spec/stores/` create it."""

TIMEOUT = 5
"""Seconds to wait for a connection, and for each read and write of the socket."""

KEY_BYTES = {"MyISAM": 1000, "Aria": 2300, "ndbcluster": 3070}
"""The longest index entry by engine, from the manuals, and for ndbcluster as tried; InnoDB's (DYNAMIC rows, 16 KiB pages) is 3072."""

_OPEN_QUESTION = {
    # The server was ended, or our connection was, while the statement ran: it may have been committed.
    ER.SERVER_SHUTDOWN,
    ER.NORMAL_SHUTDOWN,
    ER.ABORTING_CONNECTION,
    ER.NEW_ABORTING_CONNECTION,
    ER.QUERY_INTERRUPTED,
    1927,  # ER_CONNECTION_KILLED of MariaDB
    4031,  # ER_CLIENT_INTERACTION_TIMEOUT of MySQL
    # The engine failed in the middle of something, and does not say whether it was undone.
    ER.ERROR_DURING_COMMIT,
    ER.ERROR_DURING_ROLLBACK,
    ER.ERROR_ON_WRITE,
    ER.GET_ERRNO,
    ER.GET_ERRMSG,  # what NDB says of a node that failed
    ER.GET_TEMPORARY_ERRMSG,
    ER.UNKNOWN_ERROR,
}

_TOO_MANY = {ER.CON_COUNT_ERROR, ER.TOO_MANY_USER_CONNECTIONS}


def connect(address: Address, options: Mapping[str, str]) -> Session:
    """One session in autocommit mode. Raises `Refused` for wrong credentials or database, `Unknown` while nobody answers."""
    try:
        connection = pymysql.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password or "",
            database=address.database or DATABASE,
            charset="utf8mb4",
            # The server's own sql_mode may cut values that are too long, and make another engine's tables without a word.
            sql_mode="STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
            autocommit=True,
            # Affected rows are the rows found: an update to the same value has found its record.
            client_flag=CLIENT.FOUND_ROWS,
            connect_timeout=TIMEOUT,
            read_timeout=TIMEOUT,
            write_timeout=TIMEOUT,
            ssl=ssl.create_default_context() if address.tls else None,
            ssl_disabled=not address.tls,  # else it would use TLS where it is offered, and not say so
        )
        return Session(connection, options)
    except pymysql.MySQLError as reason:
        if reason.args and reason.args[0] in _TOO_MANY:
            raise Unknown(f"{address}: {reason}") from reason
        raise _sorted(reason) from reason


def _sorted(reason: pymysql.MySQLError) -> Refused | Unknown:
    """Whether the statement definitely did not happen.

    A statement that the server answered with an error was undone: in autocommit it is a transaction of its own, so that also a
    deadlock (1213) or a lock wait (1205) leaves nothing of it; and in engines without transactions one row is whole or not there.
    """
    code = reason.args[0] if reason.args else None
    if isinstance(reason, pymysql.InterfaceError) and code == 0:
        return Refused("the connection is closed; the request never left")
    if not isinstance(code, int) or code < 1000 or 2000 <= code < 3000 or code in _OPEN_QUESTION:
        return Unknown(f"{code}: {reason.args[1] if len(reason.args) > 1 else reason}")
    return Refused(f"{code}: {reason.args[1]}")


class Session:
    """One connection."""

    def __init__(self, connection: pymysql.connections.Connection[Any], options: Mapping[str, str]) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._options = options
        self.packet = 2**30
        # Only MariaDB has Aria, which cannot be left out of it; its version can be set to anything (`--version`).
        facts = self._variables(("version", "version_comment", "max_allowed_packet", "aria_block_size"))
        self.mariadb = "aria_block_size" in facts
        self._version, self._comment = facts["version"], facts["version_comment"]
        self.packet = int(facts["max_allowed_packet"])

    def version(self) -> Version:
        for product, shown in (("TiDB", self._version), ("Percona Server", self._comment)):
            if product in shown:
                return Version(product, self._version)
        return Version("MariaDB" if self.mariadb else "MySQL", self._version.removesuffix("-log"))

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        found = self._variables(names)
        if self._options.get("engine") == "ndbcluster" and (others := [name for name in names if name not in found]):
            # What the data nodes run with; where they differ, all values are listed.
            self.run(
                "SELECT param_name, GROUP_CONCAT(DISTINCT config_value) FROM ndbinfo.config_values"
                f" JOIN ndbinfo.config_params ON param_number = config_param WHERE param_name IN ({_marks(others)}) GROUP BY param_name",
                others,
            )
            found |= {str(name): str(value) for name, value in self.rows()}
        return found

    def _variables(self, names: Sequence[str]) -> dict[str, str]:
        self.run(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({_marks(names)})", names)
        return {str(name): str(value) for name, value in self.rows()}

    def collection(self, layout: Layout) -> Collection:
        record = layout.model.record
        if isinstance(record, Value):
            return Records(self, layout, self._options, {"v": "LONGBLOB NOT NULL"}, lambda value: (value,), lambda row: row[0])
        if isinstance(record, Hash):
            return Hashes(self, layout, self._options, record.fields)
        if isinstance(record, Document):
            return Documents(self, layout, self._options)
        if isinstance(record, Counter):
            return Counters(self, layout, self._options)
        columns = {"integer": "INT NOT NULL", "real": "DOUBLE NOT NULL"}
        return Records(self, layout, self._options, columns, lambda row: row, Row._make)

    def close(self) -> None:
        try:
            self._connection.close()
        except (pymysql.MySQLError, OSError):
            return  # it was closed already, or the server is gone: either way it has ended

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Send one statement and wait for its answer; the number of rows found or changed."""
        try:
            text = self._cursor.mogrify(statement, values)
        except pymysql.ProgrammingError as reason:
            raise Refused(f"{reason}; the statement was not sent") from reason  # a NaN
        try:
            # The server would close the connection before it read the whole, and we could not tell why.
            if len(text) * 4 >= self.packet and len(text.encode("utf-8", "surrogateescape")) >= self.packet:
                raise Refused(f"the statement is longer than max_allowed_packet, {self.packet} bytes; it was not sent")
            found: int = self._cursor.execute(text)
            return found
        except pymysql.MySQLError as reason:
            raise _sorted(reason) from reason
        except UnicodeEncodeError as reason:
            raise Refused(f"not a string of Unicode scalar values: {reason}; the statement was not sent") from reason

    def rows(self) -> Sequence[tuple[Any, ...]]:
        """The rows that the last statement answered."""
        fetched: Sequence[tuple[Any, ...]] = self._cursor.fetchall()
        return fetched

    @property
    def last_number(self) -> int:
        """The signed number that the last statement gave to LAST_INSERT_ID; on the wire it is unsigned."""
        number = self._cursor.lastrowid or 0
        return number - 2**64 if number >= 2**63 else number


def _marks(items: Sequence[Any]) -> str:
    return ",".join(["%s"] * len(items))


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
        self._engine = options.get("engine", "InnoDB")
        self._text = layout.model.key == "text"
        self._table = f"`{layout.name}`"
        names = [f"`{name}`" for name in columns]
        listed = ", ".join(names)
        self._row = f"(%s, {_marks(names)})"
        self._insert = f"INSERT INTO {self._table} (k, {listed}) VALUES "
        self._or_replace = " ON DUPLICATE KEY UPDATE " + ", ".join(f"{name} = VALUES({name})" for name in names)
        self._put = self._insert + self._row + self._or_replace
        self._get = f"SELECT {listed} FROM {self._table} WHERE k = %s"
        self._list = f"SELECT k, {listed} FROM {self._table}"
        self._delete = f"DELETE FROM {self._table} WHERE k = %s"
        self._exists = f"SELECT 1 FROM {self._table} WHERE k = %s"
        self._count = f"SELECT COUNT(*) FROM {self._table}"
        assigned = ", ".join(f"{name} = %s" for name in names)
        self._swap = f"UPDATE {self._table} SET {assigned} WHERE k = %s AND {self._equals()}"

    def prepare(self) -> None:
        key = f"VARBINARY({KEY_BYTES.get(self._engine, 3072)})" if self._text else "BIGINT"
        parts = [f"k {key} NOT NULL PRIMARY KEY", *(f"`{name}` {kind}" for name, kind in self._columns.items())]
        values: list[Any] = []
        for number, path in enumerate(self._layout.indexed):
            part, parameters = self._index(number, path)
            parts.append(part)
            values += parameters
        transactional = f" TRANSACTIONAL={self._options['transactional']}" if "transactional" in self._options else ""
        self._session.run(
            f"CREATE TABLE IF NOT EXISTS {self._table} ({', '.join(parts)})"
            f" ENGINE={self._engine}{transactional} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            values,
        )

    def clear(self) -> None:
        self._session.run(f"DROP TABLE IF EXISTS {self._table}")

    def describe(self) -> dict[str, str]:
        self._session.run(
            "SELECT engine, create_options, (SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics AS s"
            " WHERE s.table_schema = t.table_schema AND s.table_name = t.table_name AND index_name <> 'PRIMARY')"
            " FROM information_schema.tables AS t WHERE table_schema = DATABASE() AND table_name = %s",
            (self._layout.name,),
        )
        rows = self._session.rows()
        if not rows:
            raise Refused(f"there is no table {self._layout.name}")
        engine, created_with, indexes = rows[0]
        live = {"engine": engine, **dict(word.split("=", 1) for word in created_with.split() if "=" in word)}
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
        self._session.run(f"{self._list} WHERE k IN ({_marks(wanted)})", wanted)
        found = {row[0]: self._decode(row[1:]) for row in self._session.rows()}
        return [found.get(key) for key in wanted]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        # In the order of the keys: batches that lock the same rows in different orders end in a deadlock.
        values = [value for key, record in sorted(records.items()) for value in (self._key(key), *self._encode(record))]
        try:
            self._session.run(self._insert + ", ".join([self._row] * len(records)) + self._or_replace, values)
        except Refused as reason:
            # An engine without transactions keeps the rows that came before the one it refused.
            raise Unknown(str(reason)) if self._engine in ("MyISAM", "Aria") else reason from None

    def put_if_absent(self, key: Key, record: Record) -> bool:
        try:
            self._session.run(self._insert + self._row, (self._key(key), *self._encode(record)))
        except Refused as reason:
            # Not INSERT IGNORE: it also takes values that do not fit, and cuts them.
            if isinstance(reason.__cause__, pymysql.IntegrityError) and reason.__cause__.args[0] == ER.DUP_ENTRY:
                return False
            raise
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        return self._session.run(self._swap, (*self._encode(record), self._key(key), *self._encode(expected))) == 1

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        where = "" if start is None else f" WHERE k {'<=' if backwards else '>='} %s"
        values = (count,) if start is None else (self._key(start), count)
        self._session.run(f"{self._list}{where} ORDER BY k{' DESC' if backwards else ''} LIMIT %s", values)
        return [(row[0].decode() if self._text else row[0], self._decode(row[1:])) for row in self._session.rows()]

    def _key(self, key: Key) -> bytes | int:
        if isinstance(key, int):
            return key
        try:
            return key.encode()
        except UnicodeEncodeError as reason:
            raise Refused(f"the key is not a string of Unicode scalar values: {reason}") from reason

    def _equals(self) -> str:
        """The condition that a record equals another; a column that is absent in both is equal."""
        return " AND ".join(f"`{name}` <=> %s" for name in self._columns)

    def _index(self, number: int, path: tuple[str, ...]) -> tuple[str, Sequence[Any]]:
        """The part of CREATE TABLE that makes an index, and its parameters."""
        return f"KEY i{number} (`{path[0]}`)", []


class Hashes(Records):
    """Hashes, one nullable column a field: also Fields."""

    def __init__(self, session: Session, layout: Layout, options: Mapping[str, str], fields: Sequence[str]) -> None:
        columns = dict.fromkeys(fields, "LONGBLOB NULL")
        super().__init__(session, layout, options, columns, self._to_columns, self._from_columns)

    def get_field(self, key: Key, field: str) -> bytes | None:
        self._session.run(f"SELECT {self._column(field)} FROM {self._table} WHERE k = %s", (self._key(key),))
        rows = self._session.rows()
        return rows[0][0] if rows else None

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        column = self._column(field)
        statement = f"INSERT INTO {self._table} (k, {column}) VALUES (%s, %s) ON DUPLICATE KEY UPDATE {column} = VALUES({column})"
        self._session.run(statement, (self._key(key), value))

    def delete_field(self, key: Key, field: str) -> bool:
        column = self._column(field)
        return self._session.run(f"UPDATE {self._table} SET {column} = NULL WHERE k = %s AND {column} IS NOT NULL", (self._key(key),)) == 1

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

    def _index(self, number: int, path: tuple[str, ...]) -> tuple[str, Sequence[Any]]:
        return f"KEY i{number} (`{path[0]}`(255))", []  # a BLOB is indexed by a prefix


class Documents(Records):
    """JSON documents: also Paths, Find, Aggregate, Facets, Bulk."""

    def __init__(self, session: Session, layout: Layout, options: Mapping[str, str]) -> None:
        self._mariadb = session.mariadb
        columns = {"doc": "JSON NOT NULL"}
        super().__init__(session, layout, options, columns, lambda document: (to_json(document),), lambda row: json.loads(row[0]))
        self._requests = Requests(self._table, layout, session.mariadb)

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        # SQL's NULL is "no such part"; JSON's null is the text `null`.
        rows = self._ask(sql("SELECT {} FROM {} WHERE k = {}", extract(DOC, path), Sql(self._table), self._key(key)))
        if not rows or rows[0][0] is None:
            return MISSING
        part: Json = json.loads(rows[0][0])
        return part

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(sql("UPDATE {} SET doc = {} WHERE k = {}", Sql(self._table), replaced(path, value), self._key(key))) == 1

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._change(sql("UPDATE {} SET doc = {} WHERE k = {}", Sql(self._table), removed(path), self._key(key))) == 1

    def find(self, query: Query) -> list[tuple[Key, dict[str, Json]]]:
        return self._requests.records(query, self._ask(self._requests.find(query)))

    def count_where(self, where: Where) -> int:
        number: int = self._ask(self._requests.count(where))[0][0]
        return number

    def aggregate(self, aggregation: Aggregation) -> list[dict[str, Json]]:
        return self._requests.groups(aggregation, self._ask(self._requests.aggregate(aggregation)))

    def browse(self, browse: Browse) -> Found:
        return self._requests.page(browse, self._ask(self._requests.browse(browse)))

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        return self._change_many(self._requests.update(where, path, value))

    def delete_where(self, where: Where) -> int:
        return self._change_many(self._requests.delete(where))

    def _ask(self, statement: Sql) -> Sequence[tuple[Any, ...]]:
        self._session.run(statement.text, statement.values)
        return self._session.rows()

    def _change(self, statement: Sql) -> int:
        return self._session.run(statement.text, statement.values)

    def _change_many(self, statement: Sql) -> int:
        try:
            return self._change(statement)
        except Refused as reason:
            if self._engine == "InnoDB":
                raise
            # Without transactions, the rows before the one that was refused stay changed.
            raise Unknown(f"{reason}; {self._engine} undoes nothing") from reason

    def _equals(self) -> str:
        # MariaDB keeps JSON as text, in which the order of the fields and the spaces would count.
        return "JSON_EQUALS(doc, %s)" if self._mariadb else "doc = JSON_EXTRACT(%s, '$')"

    def _index(self, number: int, path: tuple[str, ...]) -> tuple[str, Sequence[Any]]:
        part = self._requests.index(number, path)
        return part.text, part.values


class Counters(Records):
    """Numbers: also Counter."""

    def __init__(self, session: Session, layout: Layout, options: Mapping[str, str]) -> None:
        super().__init__(session, layout, options, {"v": "BIGINT NOT NULL"}, lambda number: (number,), lambda row: row[0])
        # LAST_INSERT_ID(x) answers x and keeps it for the reply; it is unsigned, the column is not.
        self._add = (
            f"INSERT INTO {self._table} (k, v) VALUES (%s, CAST(LAST_INSERT_ID(%s) AS SIGNED))"
            " ON DUPLICATE KEY UPDATE v = CAST(LAST_INSERT_ID(v + %s) AS SIGNED)"
        )

    def increment(self, key: Key, by: int) -> int:
        if not -(2**63) <= by < 2**63:
            raise Refused(f"{by} has more than 64 bits, at which LAST_INSERT_ID would begin anew; the statement was not sent")
        self._session.run(self._add, (self._key(key), by, by))
        return self._session.last_number
