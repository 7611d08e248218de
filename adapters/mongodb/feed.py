"""A feed of a collection's changes: a change stream, which replica sets and sharded clusters have.

It tells what a majority has committed, in the order of the log, and goes on from any change that is still in the log.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pymongo.read_concern import ReadConcern

from storeproof.adapters.mongodb.link import Link, sorting
from storeproof.contract import Change, Layout, Record, Refused, Unsupported

_AWAIT: Final = 100
"""Milliseconds that the server waits for something to tell before it answers that there is nothing."""

_WRITTEN: Final = ("insert", "update", "replace")


class Followed:
    """The part of a collection that is followed: Feed, ResumableFeed."""

    _link: Link
    _layout: Layout

    def __init__(self) -> None:
        self._feed: Link | None = None
        self._stream: Any = None
        self._token: Mapping[str, Any] | None = None
        self._with_records = False

    def decode(self, found: Mapping[str, Any]) -> Record:
        raise NotImplementedError

    def follow(self, records: bool) -> None:
        """`$changeStream`; for records, every change is kept with the document that it made."""
        if not self._link.replicated():
            raise Unsupported("MongoDB has change streams only on replica sets and sharded clusters, and this is a standalone server")
        if records:
            with sorting():
                self._link.database.command("collMod", self._layout.name, changeStreamPreAndPostImages={"enabled": True})
        self._with_records = records
        self._token = None
        self.resume_feed()

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        if self._stream is None:
            raise Refused("the collection is not followed")
        end = time.monotonic() + seconds
        told: list[Change] = []
        with sorting():
            while len(told) < count:
                event = self._stream.try_next()
                if event is not None:
                    key = event["documentKey"]["_id"]
                    written = event["operationType"] in _WRITTEN
                    record = self.decode(event["fullDocument"]) if written and self._with_records else None
                    told.append(Change("put" if written else "delete", key, record))
                elif time.monotonic() >= end:
                    break
            self._token = self._stream.resume_token
        return told

    def leave_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
        self._feed = self._stream = None

    def resume_feed(self) -> None:
        self.leave_feed()
        self._feed = self._link.another()
        which = [{"$match": {"operationType": {"$in": [*_WRITTEN, "delete"]}}}]
        whole = "required" if self._with_records else None
        with sorting():
            # It reads what a majority has, and the server refuses any other concern.
            followed = self._feed.collection(self._layout.name).with_options(read_concern=ReadConcern("majority"))
            self._stream = followed.watch(which, full_document=whole, resume_after=self._token, max_await_time_ms=_AWAIT)
            self._token = self._stream.resume_token
