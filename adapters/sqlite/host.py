"""Hosts one SQLite database in a process of its own, so that an embedded store can be killed like any server.

It speaks the protocol of `storeproof.embedded`. Its functions:

* `read` and `write`: a list of `[statement, parameters]`; several statements are one transaction. They return the rows of the last
  statement that answers with rows, and the changes of the last one; the reply counts the rows, or the changes where there are none.
* `begin`, `commit` and `rollback`, where a client leads a transaction over several requests.

A failure is `refused` (rolled back) or `unknown` (the file system failed while it was being committed).

Every client has its own SQLite connection. Writers take turns by a lock of this process: SQLite has one writer
at a time in any case, and its own waiting is by polling, which is neither fair nor fast. A transaction over several
requests takes its turn with its first write and keeps it to its end. It is SQLite that tells whether it may write at all: what
it has read must still be the latest.

Run: `python -m storeproof.adapters.sqlite.host --database FILE --port N [--pragma NAME=VALUE ...]`.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from storeproof.embedded import Counted, Failure, Server
from storeproof.embedded.command_line import read_command_line
from storeproof.embedded.host import stop_at_sigterm
from storeproof.embedded.turns import Turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from storeproof.embedded import Kind

    Statements = Sequence[tuple[str, Sequence[Any]]]

_BUSY_SECONDS = 5.0
_BUSY = "SQLITE_BUSY: another transaction has held the write lock all the time"
_DONE = Counted([[], 0], 0)
_READERS = 2
"""Clients that read at the same time. Between any two rows Python lets another thread go on: of 64 clients that all did, scans of 50 rows
got 370 answers a second, and get 3,400 like this (one client 4,400); single reads lose nothing."""
_OLDEST = (3, 38, 0)
"""The `->` operator and `json_type` with null told from missing."""


class Client:
    """One client: its SQLite connection, and whether a transaction of its has the writers' turn."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.writing = False


class Host:
    def __init__(self, database: str, pragmas: Mapping[str, str]) -> None:
        self._database = database
        self._pragmas = pragmas
        self._writing = Turns()
        self._reading = threading.Semaphore(_READERS)
        self._open: set[sqlite3.Connection] = set()
        functions: dict[str, Callable[..., Counted]] = {
            "read": self._read,
            "write": self._change,
            "begin": self._begin,
            "commit": self._commit,
            "rollback": self._rollback,
        }
        self._server = Server(functions, self._client, failure_of)

    def open(self) -> sqlite3.Connection:
        """A connection in the host's configuration."""
        connection = sqlite3.connect(
            self._database, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        for pragma, value in self._pragmas.items():
            connection.execute(f"PRAGMA {pragma} = {value}")
        self._open.add(connection)
        return connection

    def serve(self, port: int) -> None:
        """Accept clients until the process is asked to stop."""
        self.open()  # creates the file, and keeps a write-ahead log from being removed whenever the last client leaves
        self._server.serve(port)

    def close(self) -> None:
        """A clean stop: no write is cut short, and the last connection checkpoints the log."""
        self._server.drain()
        with self._writing:
            for connection in list(self._open):
                connection.close()
            self._open.clear()

    @contextlib.contextmanager
    def _client(self) -> Iterator[Client]:
        own = Client(self.open())
        try:
            yield own
        finally:
            self._open.discard(own.connection)
            own.connection.close()  # which undoes what is open
            self._leave_off(own)

    def _read(self, client: Client, statements: Statements) -> Counted:
        if client.connection.in_transaction:  # the others may be waiting for its end
            return self._execute(client.connection, statements)
        with self._reading:
            return self._execute(client.connection, statements)

    def _change(self, client: Client, statements: Statements) -> Counted:
        if client.connection.in_transaction:
            return self._write_within(client, statements)
        return self._write(client.connection, statements)

    def _write(self, connection: sqlite3.Connection, statements: Statements) -> Counted:
        if not self._writing.acquire(timeout=_BUSY_SECONDS):
            raise Failure("gave_up", _BUSY)
        try:
            if len(statements) == 1:
                return self._execute(connection, statements)
            connection.execute("BEGIN IMMEDIATE")
            try:
                reply = self._execute(connection, statements)
                connection.execute("COMMIT")
                return reply
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        finally:
            self._writing.release()

    def _write_within(self, client: Client, statements: Statements) -> Counted:
        """Write in the transaction that the client leads; of several statements all are done or none."""
        first = not client.writing
        if first and not self._writing.acquire(timeout=_BUSY_SECONDS):
            raise Failure("gave_up", _BUSY)
        client.writing = True
        connection = client.connection
        try:
            if len(statements) == 1:
                return self._execute(connection, statements)
            connection.execute("SAVEPOINT request")
            try:
                reply = self._execute(connection, statements)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK TO request")
                raise
            finally:
                if connection.in_transaction:
                    connection.execute("RELEASE request")
            return reply
        except sqlite3.OperationalError as failure:
            if first and failure.sqlite_errorname.startswith("SQLITE_BUSY"):
                self._leave_off(client)  # it has read what is no longer the latest, and never becomes the writer
            raise
        finally:
            if not connection.in_transaction:  # SQLite undoes the whole where the disk is full or fails
                self._leave_off(client)

    def _begin(self, client: Client) -> Counted:
        client.connection.execute("BEGIN DEFERRED")
        return _DONE

    def _commit(self, client: Client) -> Counted:
        """End the transaction: it is undone where it cannot be committed."""
        try:
            client.connection.execute("COMMIT")
        finally:
            self._rollback(client)
        return _DONE

    def _rollback(self, client: Client) -> Counted:
        if client.connection.in_transaction:
            client.connection.execute("ROLLBACK")
        self._leave_off(client)
        return _DONE

    def _leave_off(self, client: Client) -> None:
        """Let the next one write, if it is this client that has kept the turn."""
        if client.writing:
            client.writing = False
            self._writing.release()

    def _execute(self, connection: sqlite3.Connection, statements: Statements) -> Counted:
        rows: list[Any] = []
        for statement, parameters in statements:
            cursor = connection.execute(statement, parameters)
            if cursor.description:
                rows = cursor.fetchall()
        return Counted([rows, cursor.rowcount], len(rows) or cursor.rowcount)


def failure_of(reason: Exception) -> tuple[Kind, str]:
    """How a failure is told to the client."""
    if isinstance(reason, Failure):
        return reason.kind, str(reason)
    if isinstance(reason, sqlite3.OperationalError):
        # A failing disk leaves open what became of the commit; all other errors roll the statement back.
        broken = reason.sqlite_errorname.startswith("SQLITE_IOERR")
        return "unknown" if broken else "refused", f"{reason.sqlite_errorname}: {reason}"
    known = isinstance(reason, (sqlite3.Error, OverflowError, ValueError, TypeError))
    return "refused" if known else "error", f"{type(reason).__name__}: {reason}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and serve until SIGTERM."""
    database, port, pragmas = read_command_line("database", "pragma", arguments)
    if sqlite3.sqlite_version_info < _OLDEST:
        sys.exit(f"SQLite {sqlite3.sqlite_version} is too old; {'.'.join(map(str, _OLDEST))} or newer is needed")
    host = Host(database, pragmas)

    stop_at_sigterm(host.close)
    try:
        host.serve(port)
    except OSError as reason:
        sys.exit(f"cannot listen on port {port}: {reason}")


if __name__ == "__main__":
    main()
