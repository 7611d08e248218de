"""The keys under a prefix, and a feed of their changes: etcd's watch, which goes on from any revision that is not compacted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from urllib3.exceptions import HTTPError

from storeproof.adapters.etcd.link import Link, decoded, encoded, number, parsed
from storeproof.contract import Change, Key, Refused, Unknown, WrongReply

_ANSWER_SECONDS: Final = 5.0
"""For a watch to be confirmed."""


class _Watch:
    """One watch on a connection of its own. A thread reads it, since its messages come at any time and one that was begun must be read."""

    def __init__(self, link: Link, where: Mapping[str, str], revision: int) -> None:
        """Watch a range from a revision on; the server has confirmed it."""
        self._link = link
        self._told: SimpleQueue[Mapping[str, Any] | Exception] = SimpleQueue()
        self._reply = link.stream("watch", create_request={**where, "start_revision": str(revision)})
        self._thread = Thread(target=self._listen, name="etcd watch", daemon=True)
        self._thread.start()
        if self.events(_ANSWER_SECONDS) is None:
            self.close()
            raise Unknown("the watch was not confirmed")

    def events(self, seconds: float) -> Sequence[Mapping[str, Any]] | None:
        """The events of the next message, which has those of whole revisions; None if none came in time."""
        try:
            said = self._told.get(timeout=max(0.0, seconds))
        except Empty:
            return None
        if isinstance(said, Exception):
            raise said
        found = said.get("result")
        if not isinstance(found, dict):
            raise WrongReply(f"a message of a watch: {str(said)[:200]}")
        if found.get("canceled"):
            raise Refused(f"the watch was ended: {found.get('cancel_reason') or 'its revisions are compacted'}")
        events: Sequence[Mapping[str, Any]] = found.get("events", ())
        return events

    def close(self) -> None:
        with suppress(Exception):
            self._reply.shutdown()  # wakes the thread
        self._thread.join()
        self._link.close()

    def _listen(self) -> None:
        rest = b""
        try:
            for part in self._reply.stream(None):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    if line:
                        self._told.put(parsed(line))
        except WrongReply as reason:
            self._told.put(reason)
        except (HTTPError, OSError, ValueError) as reason:
            self._told.put(Unknown(f"{type(reason).__name__}: {reason}"[:300]))
        else:
            self._told.put(Unknown("the server has ended the watch"))
        finally:
            self._reply.close()


class Followed:
    """The part of a collection that is followed: Feed, ResumableFeed."""

    def __init__(self, link: Link, prefix: bytes) -> None:
        self._link = link
        self._ask = link.ask
        self._prefix = prefix
        self._feed: _Watch | None = None
        self._heard: deque[tuple[int, Change]] = deque()
        self._with_records = False
        self._token: tuple[int, int] | None = None
        """The last revision that was told of, and how many of its changes were: a transaction makes several under one revision."""

    def follow(self, records: bool) -> None:
        """Watch the prefix from the next revision on, by a read that all members agree on."""
        told = self._ask("kv/range", **self._range(b""), count_only=True)
        self._with_records = records
        self._token = (number(told.get("header", {}), "revision") + 1, 0)
        self.resume_feed()

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        if self._feed is None or self._token is None:
            raise Refused("the collection is not followed")
        end = time.monotonic() + seconds
        while len(self._heard) < count:
            events = self._feed.events(end - time.monotonic())
            if events is None:
                break
            self._heard.extend(self._change(each) for each in events)
        told = [self._heard.popleft() for _ in range(min(count, len(self._heard)))]
        for revision, _ in told:
            known, seen = self._token
            self._token = (revision, seen + 1 if revision == known else 1)
        return [change for _, change in told]

    def leave_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
        self._feed = None
        self._heard.clear()

    def resume_feed(self) -> None:
        """Another connection, from the revision of the last change on; those of its changes that were told are passed over."""
        if self._token is None:
            raise Refused("there is no feed to resume")
        self.leave_feed()
        revision, seen = self._token
        self._feed = _Watch(self._link.another(), self._range(b""), revision)
        for _ in range(seen):
            self._skip(revision)

    def _skip(self, revision: int) -> None:
        """Pass over one change that was told before."""
        assert self._feed is not None
        while not self._heard:
            events = self._feed.events(_ANSWER_SECONDS)
            if events is None:
                raise Unknown(f"the changes of revision {revision} did not come again")
            self._heard.extend(self._change(each) for each in events)
        self._heard.popleft()

    def _change(self, event: Mapping[str, Any]) -> tuple[int, Change]:
        found = event.get("kv", {})
        revision, key = number(found, "mod_revision"), self._name(found)
        if event.get("type", "PUT") == "DELETE":
            return revision, Change("delete", key)
        return revision, Change("put", key, decoded(found, "value") if self._with_records else None)

    def _range(self, start: bytes) -> dict[str, str]:
        """All keys of the collection that begin with these bytes. The last byte of UTF-8 and of the prefix is never the highest."""
        begin = self._prefix + start
        return {"key": encoded(begin), "range_end": encoded(begin[:-1] + bytes([begin[-1] + 1]))}

    def _bytes(self, key: Key) -> bytes:
        try:
            return self._prefix + str(key).encode()
        except UnicodeEncodeError as reason:
            raise Refused(str(reason)) from reason

    def _key(self, key: Key) -> str:
        return encoded(self._bytes(key))

    def _name(self, found: Mapping[str, Any]) -> str:
        """The key of a pair that the server answered."""
        try:
            return decoded(found, "key").removeprefix(self._prefix).decode()
        except UnicodeDecodeError as reason:
            raise WrongReply(f"a key that is no text: {str(found.get('key'))[:100]}") from reason

    @staticmethod
    def _found(told: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The pairs of a range, which are left out where there are none."""
        found = told.get("kvs", [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise WrongReply(f"a range answered {str(found)[:100]}")
        return found
