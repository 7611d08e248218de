"""One connection to MySQL or MariaDB: requests, what became of them, and the transaction that may be open on it."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, cast

import pymysql
from pymysql.constants import CR, ER, SERVER_STATUS

from storeproof.contract import GaveUp, Refused, Unknown, Unsupported, WrongReply
from storeproof.spec.interleaving import Isolation

TIMEOUT = 5
"""Seconds to wait for an answer."""
_LONG = 120
"""Seconds, where the server goes through all of a table: InnoDB reads 2 GB that are not in its buffer pool from the disk."""


class Connection(pymysql.connections.Connection):
    """One whose patience can be changed: PyMySQL takes it when the connection is made, and reads it from here before each answer."""

    _read_timeout: float

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Wait longer meanwhile."""
        self._read_timeout = _LONG
        try:
            yield
        finally:
            self._read_timeout = TIMEOUT


LOCK_WAIT = 3
"""Seconds to wait for a row or a table that another session has locked: less than `TIMEOUT`, so that it is the server that gives up."""

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
    # Of group replication, while a write waits for the group: it may have been sent, and committed by the others.
    3100,  # ER_RUN_HOOK_ERROR
    3101,  # ER_TRANSACTION_ROLLBACK_DURING_COMMIT
}

_NOT_OFFERED = {
    ER.CHECK_NOT_IMPLEMENTED,
    ER.NOT_SUPPORTED_YET,
    ER.FEATURE_DISABLED,
    ER.UNKNOWN_STORAGE_ENGINE,
    # Client and server have no version of the protocol, or no way to log in, in common.
    ER.NOT_SUPPORTED_AUTH_MODE,
    CR.CR_VERSION_ERROR,
    CR.CR_AUTH_PLUGIN_CANNOT_LOAD,
}

_DAMAGED = {126, 127, 130, 144, 145, 175, 176}
"""What MyISAM and Aria say of a table that they cannot read: its index or its rows are damaged, its format is incorrect, its repair failed,
it wants to be repaired, its file is too short, a page has a wrong checksum."""

_UNREADABLE = (AssertionError, IndexError, KeyError, TypeError, ValueError, struct.error)
"""What PyMySQL stumbles over in a reply that breaks the protocol; it checks little of it."""
_MALFORMED_PACKET = 2027

_REPEATABLE_READ = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT"
_BEGIN: dict[Isolation, str] = {
    "read_committed": "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION",
    # Without these words its reads are of the moment of the first one.
    "repeatable_read": _REPEATABLE_READ,
    "snapshot": _REPEATABLE_READ,
    "serializable": "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION",
}

_SNAPSHOT_SETTING = "innodb_snapshot_isolation"
"""Of MariaDB: whether a transaction is refused that writes what another one has changed since its snapshot. MySQL has no such setting."""

_ALONE = ("START TRANSACTION", "COMMIT", "ROLLBACK")
_LOCKED = ("LOCK TABLES {} WRITE", "UNLOCK TABLES", "UNLOCK TABLES")
_INSIDE = ("SAVEPOINT before", "RELEASE SAVEPOINT before", "ROLLBACK TO SAVEPOINT before")

_ISOLATIONS: dict[str, Sequence[Isolation]] = {"InnoDB": tuple(_BEGIN), "ndbcluster": ("read_committed",)}
"""By engine. What is not here has no transactions."""


def failure_of(reason: pymysql.MySQLError) -> Refused | Unknown | Unsupported | WrongReply:
    """Whether the statement definitely did not happen.

    A statement that the server answered with an error was undone: in autocommit it is a transaction of its own, so that also a
    deadlock (1213) or a lock wait (1205) leaves nothing of it; and in engines without transactions one row is whole or not there.
    """
    code = reason.args[0] if reason.args else None
    if isinstance(reason, pymysql.InterfaceError) and code == 0:
        return Refused("the connection is closed; the request was not sent")
    if code == _MALFORMED_PACKET or (isinstance(reason, pymysql.InternalError) and not isinstance(code, int)):
        return WrongReply(f"a reply that cannot be read: {reason}")
    if code in _NOT_OFFERED:
        return Unsupported(f"the server says: {code}: {reason.args[1]}")
    if code in _DAMAGED:
        return Refused(f"{code}: {reason.args[1]}")
    if not isinstance(code, int) or code < 1000 or 2000 <= code < 3000 or code in _OPEN_QUESTION:
        return Unknown(f"{code}: {reason.args[1] if len(reason.args) > 1 else reason}")
    if code == ER.LOCK_WAIT_TIMEOUT:
        return GaveUp(f"{code}: {reason.args[1]} (the adapter lets it wait for {LOCK_WAIT} s)")
    return Refused(f"{code}: {reason.args[1]}")


def refused_with(reason: Refused, code: int) -> bool:
    """Whether the server refused with this error."""
    cause = reason.__cause__
    return isinstance(cause, pymysql.MySQLError) and bool(cause.args) and cause.args[0] == code


class Link:
    """Requests one after another, and Transactions."""

    def __init__(self, connection: Connection, engine: str) -> None:
        self.engine = engine
        self.transactional = engine in _ISOLATIONS
        """Whether the engine undoes a statement that it refused half-way."""
        self.packet = 2**30
        """Bytes of the longest request that the server takes; as long as it has not been asked, more than any."""
        self._connection = connection
        self._cursor = connection.cursor()
        self._open = False
        self._undone: Refused | None = None

    def run(self, request: str, values: Sequence[Any] = ()) -> int:
        """Send a request and wait for its answer; the number of rows that its last statement found or changed.

        A request is one statement, or some with `;` between, of which the first that is refused is the last.
        """
        if self._undone:
            raise Refused(f"the store rolled back the transaction ({self._undone}); the request was not sent")
        try:
            text = self._cursor.mogrify(request, values)
        except pymysql.ProgrammingError as reason:
            raise Refused(f"{reason}; the request was not sent") from reason  # a NaN
        try:
            # The server would close the connection before it read the whole, and we could not tell why.
            if len(text) * 4 >= self.packet and len(text.encode("utf-8", "surrogateescape")) >= self.packet:
                raise Refused(f"the request is longer than max_allowed_packet, {self.packet} bytes; it was not sent")
            self._cursor.execute(text)
            while self._cursor.nextset():
                pass
        except pymysql.MySQLError as reason:
            failure = failure_of(reason)
            self._look_after(failure)
            raise failure from reason
        except UnicodeEncodeError as reason:
            raise Refused(f"not a string of Unicode scalar values: {reason}; the request was not sent") from reason
        except _UNREADABLE as reason:
            raise WrongReply(f"a reply that cannot be read: {type(reason).__name__}: {reason}") from reason
        found: int = self._cursor.rowcount
        return found

    def together(self, table: str, statements: str, values: Sequence[Any], answer: str = "") -> Sequence[tuple[Any, ...]]:
        """Send statements about a table of which others see all or nothing; `answer` reads what they have left in variables.

        They are a transaction of their own, or a part of the one that is open. Where the engine has none the table is locked, and
        what was done before one was refused stays done.
        """
        first, last, undo = _INSIDE if self._open else _ALONE if self.transactional else _LOCKED
        try:
            return self.read(f"{first.format(table)}; {statements}; {last}; {answer}".removesuffix("; "), *values)
        except Refused as reason:
            if not self._undone:
                self.run(undo)
            if self.transactional or isinstance(reason, GaveUp):
                raise
            raise Unknown(f"{reason}; {self.engine} cannot roll back") from reason

    def define(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Send a statement that defines something. The server commits before and after it."""
        if self._open:
            raise Refused("DDL would commit the open transaction; the request was not sent")
        with self.patient():
            self.run(statement, values)

    def patient(self) -> AbstractContextManager[None]:
        """Wait longer meanwhile: for what makes the server go through all of a table."""
        return self._connection.patient()

    def change(self, request: str, /, *values: Any) -> int:
        return self.run(request, values)

    def read(self, request: str, /, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Send a request; the rows that its last statement answered."""
        self.run(request, values)
        return self.rows()

    def rows(self) -> Sequence[tuple[Any, ...]]:
        fetched: Sequence[tuple[Any, ...]] = self._cursor.fetchall()
        return fetched

    def warnings(self) -> str:
        """What the server has to say of the last statement beyond its answer; its errors excepted."""
        return "; ".join(message for level, _, message in self.read("SHOW WARNINGS") if level != "Error")

    @property
    def last_number(self) -> int:
        """The signed number that the last statement gave to LAST_INSERT_ID; on the wire it is unsigned."""
        number = self._cursor.lastrowid or 0
        return number - 2**64 if number >= 2**63 else number

    def begin(self, isolation: Isolation) -> None:
        """InnoDB has all isolations, `snapshot` by a setting of MariaDB; NDB has the weakest, and other engines have no transactions."""
        if isolation not in _ISOLATIONS.get(self.engine, ()):
            raise Unsupported(f"{self.engine} has no transactions that are {isolation.replace('_', ' ')}")
        if isolation == "snapshot" and not self._keeps_to_snapshot:
            raise Unsupported(
                "REPEATABLE READ of this server is no snapshot isolation: what a transaction writes is decided by what was committed last; "
                f"MariaDB with {_SNAPSHOT_SETTING}=ON has it"
            )
        if self._open:
            raise Refused("a transaction is open; the server would commit it")
        self.run(_BEGIN[isolation])
        self._open = True

    @cached_property
    def _keeps_to_snapshot(self) -> bool:
        return [value for _, value in self.read(f"SHOW VARIABLES LIKE '{_SNAPSHOT_SETTING}'")] == ["ON"]

    def commit(self) -> None:
        """Refused also where no transaction is open."""
        undone, opened = self._undone, self._open
        self._open, self._undone = False, None
        if undone or not opened:
            raise Refused(f"the store rolled back the transaction: {undone}" if undone else "no transaction is open")
        self.run("COMMIT")

    def rollback(self) -> None:
        """The server takes it in any state."""
        self._open, self._undone = False, None
        self.run("ROLLBACK")

    def _look_after(self, failure: Refused | Unknown | Unsupported | WrongReply) -> None:
        """Find out what a failure left of the transaction.

        A deadlock undoes all of it, and what came next would be committed by itself; after most others, a lock wait among them,
        only the statement is undone. Which errors do what depends on versions and settings; the server's state says it.
        """
        if not self._open or not isinstance(failure, (Refused, Unsupported)):
            return
        try:
            self._connection.ping(reconnect=False)
        except (pymysql.MySQLError, OSError):
            return  # the connection is gone, and every other request will say so
        state: int = cast(Any, self._connection).server_status  # which the stubs do not know
        if not state & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
            self._undone = Refused(str(failure))
