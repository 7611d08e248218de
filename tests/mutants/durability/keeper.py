"""A store that answers from its memory and keeps a file of what it was told; and the ways in which the file lies.

It speaks as the process that hosts SQLite does, and so the embedded store's adapter is its client. While it runs, its memory is the
truth, and no read shows a lie: only a fault does, since what a start finds is the file. The honest one has each write in the
file, synced, before it acknowledges it.
"""

from __future__ import annotations

import argparse
import re
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from storeproof.adapters.sqlite.host import Host
from storeproof.embedded import Counted

Statements = Sequence[tuple[str, Sequence[Any]]]

_BUSY_SECONDS = 5.0
_MEMORY = "file:/kept?vfs=memdb"
KEPT = ("CREATE", "INSERT")
"""What matters of a dump."""
_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|CREATE|DROP)")


class Keeper(Host):
    """Honest: what it acknowledges is in the file, and the file is synced."""

    synchronous = "FULL"

    def __init__(self, data: Path) -> None:
        super().__init__(_MEMORY, {})
        self.data = data
        self._turn = threading.Lock()
        self._flag = data / "open"
        """There while the store runs, and after it was killed."""
        self.killed = self._flag.exists()
        self.memory = self.open()
        self.file = self.begin()
        self.load(self.file)
        self._flag.touch()

    def open(self) -> sqlite3.Connection:
        """A connection to the memory."""
        connection = sqlite3.connect(
            self._database, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256, uri=True
        )
        self._open.add(connection)
        return connection

    def load(self, file: sqlite3.Connection) -> None:
        """Take what is in a file into the memory."""
        self.memory.executescript("\n".join(file.iterdump()))

    def begin(self) -> sqlite3.Connection:
        """The file, as a start finds it."""
        return self.opened("kept.db")

    def opened(self, name: str, synchronous: str = "") -> sqlite3.Connection:
        """One file of the data directory."""
        file = sqlite3.connect(self.data / name, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA journal_mode = wal")
        file.execute(f"PRAGMA synchronous = {synchronous or self.synchronous}")
        return file

    def close(self) -> None:
        """A clean stop."""
        super().close()
        with self._turn:
            self.end()
            self.file.close()
            self._flag.unlink()

    def end(self) -> None:
        """What is left to do before the file is closed."""

    def _write(self, connection: sqlite3.Connection, statements: Statements) -> Counted:
        with self._turn:
            reply = super()._write(connection, statements)
            if all(_WRITES.match(statement) for statement, _ in statements):
                self.keep(statements)
            elif statements[0][0] == "VACUUM":
                self.compact()
            return reply

    def keep(self, statements: Statements) -> None:
        """One acknowledgement's worth of the file; it is acknowledged when this returns."""
        self.commit(self.file, statements)

    def compact(self) -> None:
        """What is done when it is told to; the memory has been compacted."""

    @staticmethod
    def commit(file: sqlite3.Connection, statements: Statements) -> None:
        """Do them in one transaction."""
        file.execute("BEGIN")
        for statement, parameters in statements:
            file.execute(statement, parameters).fetchall()
        file.execute("COMMIT")


def later(seconds: float, do: Callable[..., None], *arguments: object) -> None:
    """In a thread that ends with the process."""
    timer = threading.Timer(seconds, do, arguments)
    timer.daemon = True
    timer.start()


class Unsynced(Keeper):
    """Writes the file and leaves the sync to the operating system: honest as long as only processes die."""

    synchronous = "OFF"


def serve(lies: Mapping[str, type[Keeper]]) -> None:
    """Read the command line, `--data DIRECTORY --port N --lie NAME`, and serve until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--lie", choices=lies, required=True)
    options = parser.parse_args()
    keeper = lies[options.lie](options.data)

    def stop(_signal: int, _frame: object) -> None:
        keeper.close()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    keeper.serve(options.port)
