"""Embedded mutants: each is the correct store with one method changed."""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import random
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storeproof.embedded import Counted, Failure
from tests.mutants.durability.keeper import KEPT, Keeper, Statements, Unsynced, later, serve

_UPSERT = re.compile(r'INSERT INTO ("[^"]+") \(k, (.*?)\) VALUES')


class MemoryOnly(Unsynced):
    """Answers from its memory and never writes."""

    def keep(self, statements: Statements) -> None:
        pass


class Queue(Unsynced):
    """Acknowledges first: a thread writes to the file 20 ms later."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self._late: queue.SimpleQueue[tuple[float, Statements] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_late, daemon=True)
        self._writer.start()

    def keep(self, statements: Statements) -> None:
        self._late.put((time.monotonic() + 0.02, statements))

    def end(self) -> None:
        self._late.put(None)
        self._writer.join()

    def _write_late(self) -> None:
        while (each := self._late.get()) is not None:
            due, statements = each
            time.sleep(max(0.0, due - time.monotonic()))
            self.commit(self.file, statements)


class Dropped(Queue):
    """Like `queue`, and discards its queue at a clean stop."""

    def end(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._late.get_nowait()
        super().end()


class LastHeldBack(Unsynced):
    """Writes each write when the next one comes, or after 300 ms without one."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self._held: Statements | None = None

    def keep(self, statements: Statements) -> None:
        self.end()
        self._held = statements
        later(0.3, self._release, statements)

    def end(self) -> None:
        if self._held is not None:
            self.commit(self.file, self._held)
            self._held = None

    def _release(self, statements: Statements) -> None:
        with self._turn:
            if self._held is statements:
                self.end()


class OneInAThousand(Unsynced):
    """Drops one write in a thousand."""

    def keep(self, statements: Statements) -> None:
        super().keep([each for each in statements if random.randrange(1000)])


class Contended(Unsynced):
    """Writes of a single client are written at once; concurrent ones with the next group, 50 ms after their acknowledgement."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self._writers: set[int] = set()
        self._group: list[Statements] = []

    def _write(self, connection: sqlite3.Connection, statements: Statements) -> Counted:
        self._writers.add(threading.get_ident())
        try:
            return super()._write(connection, statements)
        finally:
            self._writers.discard(threading.get_ident())

    def keep(self, statements: Statements) -> None:
        if not self._group and len(self._writers) == 1:
            super().keep(statements)
            return
        if not self._group:
            later(0.05, self._write_group)
        self._group.append(statements)

    def end(self) -> None:
        for statements in self._group:
            super().keep(statements)
        self._group.clear()

    def _write_group(self) -> None:
        with self._turn:
            self.end()


class DeletesUnlogged(Unsynced):
    """Deletes do not reach the file."""

    def keep(self, statements: Statements) -> None:
        if not statements[0][0].startswith("DELETE"):
            super().keep(statements)


class UpdatesUnlogged(Unsynced):
    """One overwrite in five does not reach the file: the earlier record stays."""

    _overwritten = 0

    def keep(self, statements: Statements) -> None:
        found = _UPSERT.match(statements[0][0])
        if found:
            (there,) = self.file.execute(f"SELECT count(*) FROM {found[1]} WHERE k = ?", statements[0][1][:1]).fetchone()
            self._overwritten += there
            if there and self._overwritten % 5 == 0:
                return
        super().keep(statements)


class FieldByField(Unsynced):
    """Writes a hash in two commits, half of its fields in each."""

    def keep(self, statements: Statements) -> None:
        found = _UPSERT.match(statements[0][0])
        names = found[2].split(", ") if found else []
        if found and "field0" in names:
            half = names[: len(names) // 2]
            changes = ", ".join(f"{name} = excluded.{name}" for name in half)
            marks = ", ".join("?" * (len(half) + 1))
            first = f"INSERT INTO {found[1]} (k, {', '.join(half)}) VALUES ({marks}) ON CONFLICT(k) DO UPDATE SET {changes}"
            super().keep([(first, statements[0][1][: len(half) + 1])])
            time.sleep(0.02)
        super().keep(statements)


class DocumentInTwo(Unsynced):
    """Writes a nested document in two commits: first half of its members, next to the old values of the others."""

    def keep(self, statements: Statements) -> None:
        found = _UPSERT.match(statements[0][0])
        if found and found[2] == "doc":
            key, text = statements[0][1]
            new = json.loads(text)
            rows = self.file.execute(f"SELECT doc FROM {found[1]} WHERE k = ?", (key,)).fetchall()
            half = dict(itertools.islice(new.items(), len(new) // 2))
            first = {**(json.loads(rows[0][0]) if rows else {}), **half}
            super().keep([(statements[0][0], (key, json.dumps(first)))])
            time.sleep(0.02)
        super().keep(statements)


class CountedTwice(Unsynced):
    """After a crash it replays the last increment, although the file has it already."""

    def begin(self) -> sqlite3.Connection:
        file = super().begin()
        last = self.data / "last"
        if self.killed and last.exists():
            statement, parameters = json.loads(last.read_text())
            self.commit(file, [(statement, parameters)])
        return file

    def keep(self, statements: Statements) -> None:
        super().keep(statements)
        if "excluded.n" in statements[0][0]:
            (self.data / "last.new").write_text(json.dumps(statements[0]))
            (self.data / "last.new").rename(self.data / "last")


class Inventing(Unsynced):
    """After a crash the newest value is a block of zeros."""

    def begin(self) -> sqlite3.Connection:
        file = super().begin()
        for (table,) in file.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%v BLOB NOT NULL%'").fetchall():
            if self.killed:
                file.execute(f'UPDATE "{table}" SET v = zeroblob(length(v)) WHERE rowid = (SELECT max(rowid) FROM "{table}")')
        return file


class ReadOnly(Unsynced):
    """After a crash it accepts no writes until someone repairs it."""

    def _write(self, connection: sqlite3.Connection, statements: Statements) -> Counted:
        if self.killed and not statements[0][0].startswith("CREATE"):
            raise Failure("refused", "read only: the store was not closed properly; repair it")
        return super()._write(connection, statements)


class Unclean(Unsynced):
    """After a crash it does not start until someone repairs it."""

    def begin(self) -> sqlite3.Connection:
        if self.killed:
            sys.exit("the store was not closed properly; repair it")
        return super().begin()


class Afresh(Unsynced):
    """After a crash it moves its file away and starts with an empty one."""

    def begin(self) -> sqlite3.Connection:
        if self.killed:
            for path in self.data.glob("kept.db*"):
                path.unlink()
        return super().begin()


class Rewriting(Unsynced):
    """Rewrites its file at every start, and removes the old one first: a crash in between loses it."""

    def begin(self) -> sqlite3.Connection:
        file = super().begin()
        return self.rewritten(file, file, 1.0)

    def rewritten(self, file: sqlite3.Connection, source: sqlite3.Connection, seconds: float) -> sqlite3.Connection:
        """A new file, with all that is in the source, in ten pieces."""
        statements = [(each, ()) for each in source.iterdump() if each.startswith(KEPT)]
        file.close()
        for path in self.data.glob("kept.db*"):
            path.unlink()
        file = super().begin()
        at_once = len(statements) // 10 + 1
        for first in range(0, len(statements), at_once):
            self.commit(file, statements[first : first + at_once])
            time.sleep(seconds / 10)
        return file


class RewritingInPlace(Rewriting):
    """Like `rewriting`, but at a compaction instead of a start."""

    def begin(self) -> sqlite3.Connection:
        return self.opened("kept.db")

    def compact(self) -> None:
        self.file = self.rewritten(self.file, self.memory, 0.2)


class BatchInParts(Unsynced):
    """Writes a batch record by record, and claims that batches are atomic."""

    def keep(self, statements: Statements) -> None:
        for statement in statements[:-1]:
            super().keep([statement])
            time.sleep(0.03)
        super().keep(statements[-1:])


class SyncedAtFirst(Keeper):
    """Syncs only until its first restart."""

    def begin(self) -> sqlite3.Connection:
        if (self.data / "kept.db").exists():
            self.synchronous = "OFF"
        return super().begin()


class CountersUnsynced(Keeper):
    """Has a separate file for counters, and does not sync it."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self._counters = self.opened("counters.db", "OFF")
        self.load(self._counters)

    def keep(self, statements: Statements) -> None:
        counted = "typeof(n)" in statements[0][0] or "excluded.n" in statements[0][0]
        self.commit(self._counters if counted else self.file, statements)

    def end(self) -> None:
        self._counters.close()


LIES: Final[Mapping[str, type[Keeper]]] = {
    each.__name__: each
    for each in (
        *(Keeper, Unsynced, MemoryOnly, Queue, Dropped, LastHeldBack, OneInAThousand, Contended, DeletesUnlogged, UpdatesUnlogged),
        *(FieldByField, DocumentInTwo, CountedTwice, Inventing, ReadOnly, Unclean, Afresh, Rewriting),
        *(RewritingInPlace, BatchInParts, SyncedAtFirst, CountersUnsynced),
    )
}


def main() -> None:
    """Serve; what the store files start."""
    serve(LIES)
