"""Hosts one SQLite database in a process of its own, so that an embedded store can be killed like any server.

Protocol, both ways: four bytes of length, big-endian, then a msgpack value.

* request: `[write, [[statement, parameters], ...]]`; several statements are one transaction. In place of `write`, which is
  true or false, stands `begin`, `commit` or `rollback` where a client leads a transaction over several requests.
* reply: `[0, rows, changes]`, the rows of the last statement that answers with rows and the changes of the last one, or
  `[1, kind, message]` where `kind` is `refused` (rolled back) or `unknown` (the file system failed while it was being
  committed).

Every client has its own SQLite connection. Writers take turns by a lock of this process: SQLite has one writer
at a time in any case, and its own waiting is by polling, which is neither fair nor fast. A transaction over several
requests takes its turn with its first write and keeps it to its end. It is SQLite that tells whether it may write at all: what
it has read must still be the latest.

Run: `python -m storeproof.adapters.sqlite_host --database FILE --port N [--pragma NAME=VALUE ...]`.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import sqlite3
import struct
import sys
import threading
from collections.abc import Sequence
from typing import Any

import msgpack

from storeproof.adapters.sqlite_turns import Turns

_LENGTH = struct.Struct(">I")
_LONGEST = 256 * 1024 * 1024
"""Bytes of one request; far above any record of the specification."""

_BUSY_SECONDS = 5.0
_BUSY = [1, "refused", "SQLITE_BUSY: another transaction has been writing all the while"]
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
    """Serves one database file."""

    def __init__(self, database: str, pragmas: Sequence[str]) -> None:
        self._database = database
        self._pragmas = pragmas
        self._writing = Turns()
        self._reading = threading.Semaphore(_READERS)
        self._open: set[sqlite3.Connection] = set()
        self._sockets: set[socket.socket] = set()

    def open(self) -> sqlite3.Connection:
        """A connection in the host's configuration."""
        connection = sqlite3.connect(
            self._database, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        for pragma in self._pragmas:
            connection.execute(f"PRAGMA {pragma}")
        self._open.add(connection)
        return connection

    def serve(self, port: int) -> None:
        """Accept clients until the process is asked to stop."""
        self.open()  # creates the file, and keeps a write-ahead log from being removed whenever the last client leaves
        with socket.create_server(("127.0.0.1", port), backlog=1024) as server:
            while True:
                client, _ = server.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def close(self) -> None:
        """A clean stop: no write is cut short, and the last connection checkpoints the log."""
        for client in list(self._sockets):
            # No more is heard of it: what it has asked is still done and answered, and a transaction that it leaves open is undone.
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RD)
        with self._writing:
            for connection in list(self._open):
                connection.close()
            self._open.clear()

    def _converse(self, client: socket.socket) -> None:
        own = Client(self.open())
        self._sockets.add(client)
        try:
            with client, client.makefile("rb", buffering=65536) as requests:
                while len(head := requests.read(_LENGTH.size)) == _LENGTH.size:
                    (length,) = _LENGTH.unpack(head)
                    if length > _LONGEST:
                        break
                    reply = msgpack.packb(self._answer(own, requests.read(length)), use_bin_type=True)
                    client.sendall(_LENGTH.pack(len(reply)) + reply)
        except OSError:
            pass  # the client went away; a write that was in progress is done or rolled back by now
        finally:
            self._sockets.discard(client)
            self._open.discard(own.connection)
            own.connection.close()  # which undoes what is open
            self._leave_off(own)

    def _answer(self, client: Client, request: bytes) -> list[Any]:
        try:
            write, statements = msgpack.unpackb(request, raw=False)
            if not write:
                return self._read(client.connection, statements)
            if write is not True:
                return self._lead(client, write)
            if client.connection.in_transaction:
                return self._write_within(client, statements)
            return self._write(client.connection, statements)
        except sqlite3.OperationalError as failure:
            # A failing disk leaves open what became of the commit; all other errors roll the statement back.
            broken = failure.sqlite_errorname.startswith("SQLITE_IOERR")
            return [1, "unknown" if broken else "refused", f"{failure.sqlite_errorname}: {failure}"]
        except (sqlite3.Error, OverflowError, ValueError, TypeError) as failure:
            return [1, "refused", f"{type(failure).__name__}: {failure}"]

    def _read(self, connection: sqlite3.Connection, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        if connection.in_transaction:  # the others may be waiting for its end
            return self._execute(connection, statements)
        with self._reading:
            return self._execute(connection, statements)

    def _write(self, connection: sqlite3.Connection, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        if not self._writing.acquire(timeout=_BUSY_SECONDS):
            return _BUSY
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

    def _write_within(self, client: Client, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Write in the transaction that the client leads; of several statements all are done or none."""
        first = not client.writing
        if first and not self._writing.acquire(timeout=_BUSY_SECONDS):
            return _BUSY
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

    def _lead(self, client: Client, word: str) -> list[Any]:
        """Begin a transaction, or end it: it is undone where it cannot be committed."""
        connection = client.connection
        if word == "begin":
            connection.execute("BEGIN DEFERRED")
            return [0, [], 0]
        try:
            if word == "commit":
                connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._leave_off(client)
        return [0, [], 0]

    def _leave_off(self, client: Client) -> None:
        """Let the next one write, if it is this client that has kept the turn."""
        if client.writing:
            client.writing = False
            self._writing.release()

    def _execute(self, connection: sqlite3.Connection, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        rows: list[Any] = []
        for statement, parameters in statements:
            cursor = connection.execute(statement, parameters)
            if cursor.description:
                rows = cursor.fetchall()
        return [0, rows, cursor.rowcount]


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and serve until SIGTERM."""
    parser = argparse.ArgumentParser(description="Hosts a SQLite database.")
    parser.add_argument("--database", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pragma", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(arguments)
    if sqlite3.sqlite_version_info < _OLDEST:
        sys.exit(f"SQLite {sqlite3.sqlite_version} is too old; {'.'.join(map(str, _OLDEST))} or newer is needed")
    host = Host(options.database, options.pragma)

    def stop(_signal: int, _frame: object) -> None:
        # Off the interrupted frame: the main thread only accepts, so it never holds the writers' lock.
        host.close()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    try:
        host.serve(options.port)
    except OSError as reason:
        sys.exit(f"cannot listen on port {options.port}: {reason}")


if __name__ == "__main__":
    main()
