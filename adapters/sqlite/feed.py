"""A feed of a table's changes: a log beside it, which triggers write in the transaction of the change.

SQLite has one writer at a time, so that the numbers of the log are in the order of the commits; where writers ran side by side, as in
a server, they would not be. The hook for updates that SQLite has besides sees the changes of one connection only. A client that waits for
changes polls: SQLite tells no other process that something was committed. The log ends with its table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from storeproof.adapters.sql.records import Records
from storeproof.adapters.sqlite.link import Link
from storeproof.contract import Change, Refused

_LOOK_AGAIN = 0.01
"""Seconds between two looks."""


class Followed(Records):
    """Feed, ResumableFeed."""

    _link: Link
    _feed: Link | None = None
    _last = 0
    """The token: the number of the last change that was answered."""
    _with_records = False

    def follow(self, records: bool) -> None:
        names = list(self.columns)
        table, log = self._name, self._log
        definitions = [f"CREATE TABLE IF NOT EXISTS {log} (n INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT, k, {', '.join(names)})"]
        for event in ("INSERT", "UPDATE", "DELETE"):
            kind, row = ("delete", "old") if event == "DELETE" else ("put", "new")
            kept = ["NULL" if event == "DELETE" else f"new.{name}" for name in names]
            definitions.append(
                f'CREATE TRIGGER IF NOT EXISTS "{self._layout.name}_log_{event}" AFTER {event} ON {table} BEGIN '
                f"INSERT INTO {log} (kind, k, {', '.join(names)}) VALUES ('{kind}', {row}.k, {', '.join(kept)}); END"
            )
        last = f"SELECT coalesce(max(n), 0) FROM {log}"
        self._last = self._link.write_all([(statement, ()) for statement in (*definitions, last)])[0][0]
        self._with_records = records
        self.resume_feed()

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        if self._feed is None:
            raise Refused("the collection is not followed")
        end = time.monotonic() + seconds
        names = ", ".join(self.columns)
        select = f"SELECT n, kind, k, {names if self._with_records else 'NULL'} FROM {self._log} WHERE n > ? ORDER BY n LIMIT ?"
        while True:
            rows = self._feed.read(select, self._last, count)
            if len(rows) >= count or time.monotonic() >= end:
                break
            time.sleep(_LOOK_AGAIN)
        if rows:
            self._last = rows[-1][0]
        with_record = [self._with_records and kind == "put" for _, kind, *_ in rows]
        return [Change(row[1], row[2], self.decode(row[3:]) if whole else None) for row, whole in zip(rows, with_record, strict=True)]

    def leave_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def resume_feed(self) -> None:
        self.leave_feed()
        self._feed = self._link.another()

    @property
    def _log(self) -> str:
        return f'"{self._layout.name}_log"'

    def _unfollowed(self) -> list[str]:
        """The statements that remove the log, where its table is removed before."""
        self.leave_feed()
        return [f"DROP TABLE IF EXISTS {self._log}"]
