"""One connection to PostgreSQL: statements, what became of them, and transactions."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Final, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from storeproof.contract import Refused, Unknown, Unsupported, WrongReply
from storeproof.spec.interleaving import Isolation

TIMEOUT = 5
"""Seconds to wait for a connection, and for each answer."""

ISOLATION: Final[Mapping[Isolation, str]] = {
    "read_committed": "READ COMMITTED",
    "repeatable_read": "REPEATABLE READ",
    "snapshot": "REPEATABLE READ",  # which PostgreSQL implements as snapshot isolation
    "serializable": "SERIALIZABLE",
}

_DUPLICATE = ("23505", "42P07", "42710", "42723")
"""unique_violation (in the catalogue), duplicate_table, duplicate_object, duplicate_function."""

_NOT_OFFERED: Final = "0A000"
"""feature_not_supported"""

_UNREADABLE: Final = re.compile(
    "lost synchronization|do not agree with length|unexpected message|insufficient data|unexpected field count|unexpected response from"
)
"""What libpq says of a reply that breaks the protocol."""

_WAIT_FOR_STANDBY: Final = "SyncRepWaitForLSN"
"""The server's function that waits (src/backend/replication/syncrep.c)."""

RV = TypeVar("RV")


class _TimedOut(psycopg.OperationalError):
    """No answer came in time."""


class Connection(psycopg.Connection[Any]):
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


def _failure_of(reason: psycopg.Error) -> Exception:
    """Whether the statement definitely did not happen.

    ERROR means that the statement was undone, and with it the transaction that it is part of: in autocommit its own. So also a
    deadlock, a cancelled statement or a full disk leaves nothing of it. FATAL and PANIC end the session (a shutdown), and a lost
    connection says nothing: the commit may have been written before.
    """
    text = f"{reason.sqlstate}: {reason}" if reason.sqlstate else str(reason)
    if reason.sqlstate == _NOT_OFFERED:
        return Unsupported(f"the server says: {text}")
    # Relatives, and PostgreSQL before 9.6, have the severity in the server's language alone.
    if (reason.diag.severity_nonlocalized or reason.diag.severity) == "ERROR":
        return Refused(text)
    if reason.sqlstate is None and _UNREADABLE.search(text):
        return WrongReply(f"a reply that cannot be read: {text}")
    if isinstance(reason, psycopg.DataError) and reason.sqlstate is None:
        return Refused(f"{text}; the statement was not sent")  # psycopg could not write a value: NUL in a text
    return Unknown(text)


def sqlstate(reason: Refused) -> str | None:
    """The server's code for why it refused, if it was the server that did."""
    return reason.__cause__.sqlstate if isinstance(reason.__cause__, psycopg.Error) else None


def duplicates_a_key(reason: Refused) -> bool:
    """Whether the server refused a row because its table has one with the same primary key."""
    cause = reason.__cause__
    return isinstance(cause, psycopg.errors.UniqueViolation) and (cause.diag.constraint_name or "").endswith("_pkey")


class Link:
    """One connection in autocommit mode, and at most one transaction."""

    def __init__(self, connection: Connection, again: Callable[[], Connection], ours: bool = False) -> None:
        """
        Args:
            again: opens another connection to the same place.
            ours: whether the database was made for the run.
        """
        self.ours = ours
        self._connection = connection
        self._again = again
        self._others: list[Link] = []
        self._cursor = connection.cursor(binary=True)
        self._defining = psycopg.ClientCursor(connection)
        self._unreplicated = ""
        """What the server said instead of an error, if it ended its wait for a standby."""
        connection.add_notice_handler(self._notice)

    def run(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = (), prepare: bool = True) -> int:
        """Send one statement and wait for its answer; the number of rows found or changed."""
        return self._run(self._cursor, statement, values, prepare)

    def change(self, statement: str, /, *values: Any) -> int:
        return self.run(statement, values)

    def read(self, statement: str, /, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Send one statement; the rows that it answered."""
        self.run(statement, values)
        return self.rows()

    def copy(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Send a COPY with its rows, as text: then a type does not matter."""

        def send() -> None:
            with self._cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)

        self._answered(send)

    def said(self, question: str) -> Sequence[tuple[Any, ...]]:
        """The rows that a question without arguments is answered with, in text: the only format that every relative has for all types."""
        self._run(self._defining, question, (), None)
        return self._fetched(self._defining)

    def rows(self) -> Sequence[tuple[Any, ...]]:
        return self._fetched(self._cursor)

    def _fetched(self, cursor: psycopg.Cursor[Any]) -> Sequence[tuple[Any, ...]]:
        try:
            return cursor.fetchall()
        except (psycopg.DataError, ValueError, IndexError, struct.error) as reason:
            raise WrongReply(f"a value that cannot be read: {type(reason).__name__}: {reason}") from reason

    def define(self, statement: str, values: Mapping[str, Any]) -> None:
        """Send a definition. It may have no arguments, so that psycopg writes the values into it as literals."""
        self._run(self._defining, statement, values, None)

    def make(self, statement: str) -> None:
        """Send a definition; that another session has made the same is no failure."""
        try:
            self.run(statement, prepare=False)
        except Refused as reason:
            # IF NOT EXISTS looks, and then makes: another session may have been between.
            if sqlstate(reason) not in _DUPLICATE:
                raise

    def begin(self, isolation: Isolation) -> None:
        if self._open:
            raise Refused("a transaction is already open, and transactions cannot be nested")
        self.run(f"BEGIN ISOLATION LEVEL {ISOLATION[isolation]}", prepare=False)

    def commit(self) -> None:
        """Commit; a transaction in which a statement failed is undone instead, which the server calls no error."""
        self.run("COMMIT", prepare=False)
        if self._cursor.statusmessage == "ROLLBACK":
            raise Refused("a statement of the transaction failed: all of it was rolled back")

    def rollback(self) -> None:
        if self._open:
            self.run("ROLLBACK", prepare=False)

    def another(self) -> Link:
        """A further connection, which ends with this one at the latest."""
        self._others.append(Link(self._again(), self._again, self.ours))
        return self._others[-1]

    def heard(self, seconds: float, most: int) -> list[str]:
        """What was notified, where this connection listens: waits until there is something, as long as this."""
        try:
            return [each.payload for each in self._connection.notifies(timeout=seconds, stop_after=most)]
        except psycopg.Error as reason:
            raise _failure_of(reason) from reason

    def close(self) -> None:
        """End the connection; never raises."""
        for other in self._others:
            other.close()
        try:
            self._connection.close()
        except (psycopg.Error, OSError):
            return  # the server is gone: either way it has ended

    @property
    def _open(self) -> bool:
        return self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    def _run(self, cursor: psycopg.Cursor[Any], statement: str, values: Any, prepare: bool | None) -> int:
        return self._answered(lambda: cursor.execute(statement, values, prepare=prepare)).rowcount

    def _answered(self, ask: Callable[[], RV]) -> RV:
        if self._connection.closed:
            raise Refused("the connection is closed; the request was not sent")
        try:
            self._unreplicated = ""
            answer = ask()
        except psycopg.Error as reason:
            raise _failure_of(reason) from reason
        except (UnicodeEncodeError, OverflowError) as reason:
            raise Refused(f"{reason}; the statement was not sent") from reason
        if self._unreplicated:
            raise Unknown(self._unreplicated)
        return answer

    def _notice(self, notice: psycopg.errors.Diagnostic) -> None:
        """A cancelled wait for a standby ends in success, and a warning; its text may be in any language."""
        if notice.source_function == _WAIT_FOR_STANDBY:
            self._unreplicated = notice.message_primary or _WAIT_FOR_STANDBY
