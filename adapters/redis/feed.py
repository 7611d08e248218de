"""A feed of the changes of strings: Redis' keyspace notifications.

They are sent to the clients that listen, in the order of the commands, and are not kept: a client that is away misses them. They name
the key and the command, not the value. A server sends them if it is set to (`notify-keyspace-events`), which its operator decides: it
holds for all databases and clients, and costs every write something.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from redis.exceptions import RedisError

from storeproof.adapters.redis.link import RedisLink, failure_of
from storeproof.contract import Change, Refused, Unsupported

_NEEDED: Final = frozenset("Kg$xe")
"""Notifications by key, of: commands for keys of every kind, of strings, of keys that have expired or were evicted."""
_ALL: Final = frozenset("g$lshzxetd")
"""What `A` stands for."""
_REMOVED: Final = frozenset({"del", "expired", "evicted", "rename_from", "move_from"})
_NO_CHANGE: Final = frozenset({"expire", "persist"})
"""When a key ends is not part of its record."""
_ANSWER_SECONDS: Final = 5.0
"""For a subscription to be answered."""


class Followed:
    """The part of a collection of strings that is followed: Feed."""

    _session: RedisLink
    _prefix: str
    _numbered: bool
    _feed: Any = None

    def follow(self, records: bool) -> None:
        if records:
            raise Unsupported("a keyspace notification has the name of the key and of the command, not the value")
        self._check()
        channel = f"__keyspace@{self._session.database}__:{self._prefix}"
        self._from = len(channel)
        self._unfollow()
        self._feed = self._session.listener()
        try:
            self._feed.psubscribe(f"{channel}*")  # a layout's name holds no character that is read as a pattern
            if self._feed.get_message(timeout=_ANSWER_SECONDS) is None:
                raise Refused("the subscription was not confirmed")
        except (RedisError, OSError) as reason:
            self._unfollow()
            raise failure_of(reason) from reason

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        if self._feed is None:
            raise Refused("the collection is not followed")
        end = time.monotonic() + seconds
        told: list[Change] = []
        while len(told) < count:
            try:
                message = self._feed.get_message(timeout=max(0.0, end - time.monotonic()))
            except (RedisError, OSError) as reason:
                self._unfollow()  # the client would subscribe again, and changes would be lost without a sign
                raise failure_of(reason) from reason
            if message is not None and (event := message["data"].decode()) not in _NO_CHANGE:
                name = message["channel"][self._from :].decode()
                told.append(Change("delete" if event in _REMOVED else "put", int(name) if self._numbered else name))
            elif time.monotonic() >= end:
                break
        return told

    def _unfollow(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def _check(self) -> None:
        try:
            found = self._session.run("CONFIG GET", "notify-keyspace-events")
        except (Refused, Unsupported) as reason:
            raise Unsupported(f"the server does not report whether it sends keyspace notifications: {reason}") from reason
        flags = set(found.get("notify-keyspace-events", ""))
        if "A" in flags:
            flags |= _ALL
        if missing := _NEEDED - flags:
            raise Unsupported(
                "keyspace notifications are off; the operator of the server can enable them: "
                f"notify-keyspace-events lacks {', '.join(sorted(missing))}; KA has all of them"
            )
