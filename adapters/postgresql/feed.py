"""Feeds of a table's changes: notifications by a trigger, or, where the variant is set up for it, what is decoded of the log.

A notification is sent with the commit, in the order of the commits, to the sessions that listen at that time. It has at most 8000 bytes,
which is enough for a key, and is not kept. The log has everything; a replication slot keeps it until it was read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from storeproof.adapters.postgresql.decoding import Decoding
from storeproof.adapters.postgresql.link import Link
from storeproof.adapters.postgresql.table import Table
from storeproof.adapters.sql.records import Records
from storeproof.contract import Change, Key, Refused, Unsupported

_AT_ONCE = 1.0
"""Seconds for which one wait lasts, well below the connection's own patience."""


class _Source(Protocol):
    """Where changes come from, over a connection of its own."""

    def changes(self, count: int, seconds: float) -> Sequence[Change]: ...

    def close(self) -> None: ...


class Notifications:
    """LISTEN on a channel. What is said there is `put` or `delete`, a number, and the key."""

    def __init__(self, link: Link, channel: str, key_of: Callable[[str], Key]) -> None:
        self._link = link
        self._key_of = key_of
        self._heard: deque[Change] = deque()
        link.run(f'LISTEN "{channel}"', prepare=False)

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        end = monotonic() + seconds
        while len(self._heard) < count:
            for payload in self._link.heard(max(0.0, min(_AT_ONCE, end - monotonic())), count - len(self._heard)):
                kind, _, key = payload.split(" ")
                self._heard.append(Change("delete" if kind == "DELETE" else "put", self._key_of(key)))
            if monotonic() >= end:
                break
        return [self._heard.popleft() for _ in range(min(count, len(self._heard)))]

    def close(self) -> None:
        self._link.close()


class Followed(Table, Records):
    """Feed, ResumableFeed."""

    _feed: _Source | None = None
    _token: Decoding.Token | None = None
    _with_records = False

    def follow(self, records: bool) -> None:
        if self._options.get("changes") == "decoding":
            self._with_records = records
            Decoding.prepare(self._link, self._layout.name, records)
            self._token = Decoding.Token()
            self.resume_feed()
            return
        if records:
            raise Unsupported(
                "a notification is limited to 8000 bytes, too few for a record; logical decoding has records (wal_level=logical)"
            )
        self._end_feed()
        for statement in self._telling():
            self._link.make(statement)
        self._feed = Notifications(self._link.another(), self._layout.name, self._key_from)

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        if self._feed is None:
            raise Refused("the table is not followed")
        return self._feed.changes(count, seconds)

    def leave_feed(self) -> None:
        if self._token is None:
            raise Unsupported("notifications are not kept for disconnected clients; logical decoding keeps changes (wal_level=logical)")
        self._end_feed()

    def resume_feed(self) -> None:
        if self._token is None:
            raise Refused("there is no feed to resume")
        self._end_feed()
        columns = self.columns if self._with_records else None
        self._feed = Decoding(self._link.another(), self._layout.name, self._token, self._key_from, columns, self.decode)

    def clear(self) -> None:
        self._end_feed()
        if self._token is not None:
            Decoding.remove(self._link, self._layout.name)
            self._token = None
        super().clear()

    def _end_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def _telling(self) -> Sequence[str]:
        """The trigger. Of equal notifications of one transaction only one is sent: hence the number."""
        key = "encode({row}.k, 'hex')" if self._text_keys else "{row}.k::text"
        said = f"TG_OP || ' ' || nextval('{self._own('told')}') || ' ' || CASE TG_OP WHEN 'DELETE' THEN {key.format(row='OLD')}"
        said += f" ELSE {key.format(row='NEW')} END"
        body = f"BEGIN PERFORM pg_notify('{self._layout.name}', {said}); RETURN NULL; END"
        there = f"EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass('{self._name}') AND tgname = '{self._layout.name}_tell')"
        made = f"CREATE TRIGGER {self._own('tell')} AFTER INSERT OR UPDATE OR DELETE ON {self._name} FOR EACH ROW EXECUTE FUNCTION"
        return [
            f"CREATE SEQUENCE IF NOT EXISTS {self._own('told')} CACHE 1 OWNED BY {self._name}.k",
            self._new_function("tell", "", "trigger", "plpgsql", body),
            f"DO $do$ BEGIN IF NOT {there} THEN {made} {self._own('tell')}(); END IF; END $do$",
        ]

    def _key_from(self, written: str) -> Key:
        return bytes.fromhex(written).decode() if self._text_keys else int(written)
