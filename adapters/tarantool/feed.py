"""A feed of a space's changes: a trigger on the space, whose findings wait in the instance's memory until they are asked for.

box.watch would tell that something changed, and of several changes the last; the log itself is for replicas, which take all of it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from tarantool.error import Error

from storeproof.contract import Change, Refused

_AT_ONCE: Final = 2.0
"""Seconds that one request waits, well below the connection's own patience."""


class Followed:
    """The part of a space that is followed: Feed, ResumableFeed. The token is the number of the last change that was answered."""

    _session: Any
    _name: str
    _feed: Any = None
    _feed_number = 0
    _last = 0

    def decode(self, found: Sequence[Any]) -> Any:
        raise NotImplementedError

    def follow(self, records: bool) -> None:
        """space:on_replace and box.on_commit; asked for over a connection of its own."""
        self._feed_number = self._session.call("follow", self._name, records)[0]
        self._last = 0
        self.resume_feed()

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        """What was kept; the request waits in the instance."""
        if self._feed is None:
            raise Refused("the space is not followed")
        end = time.monotonic() + seconds
        while True:
            wait = max(0.0, min(_AT_ONCE, end - time.monotonic()))
            found = self._feed.call("changes", self._name, self._feed_number, self._last, count, wait)[0]
            if len(found) >= count or time.monotonic() >= end:
                break
        self._last += len(found)
        return [Change(kind, key, self.decode(record[0]) if record else None) for kind, key, *record in found]

    def leave_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def resume_feed(self) -> None:
        self.leave_feed()
        self._feed = _another(self._session)

    def clear(self) -> None:
        """Drop the space, with which the feed ends."""
        self.leave_feed()
        super().clear()  # type: ignore[misc]  # that of the space


def _another(session: Any) -> Any:
    """A session like this one, over a connection of its own."""
    own = session.connection
    try:
        connection = type(own)(
            own.host,
            own.port,
            user=own.user,
            password=own.password,
            socket_timeout=own.socket_timeout,
            connection_timeout=own.connection_timeout,
            reconnect_max_attempts=0,
            reconnect_delay=0,
            transport=own.transport,
        )
    except Error as reason:
        raise session.failure_of(reason) from reason
    return type(session)(connection, {"engine": session.engine, "index": session.index})
