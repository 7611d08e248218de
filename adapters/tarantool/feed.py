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

FEED_FUNCTIONS: Final = r"""
local fiber = require('fiber')

-- By space, then by the number of the feed. They outlive the connections, and this chunk, which every connection sends.
local feeds = rawget(_G, 'storeproof_feeds') or {}
rawset(_G, 'storeproof_feeds', feeds)

local function feed_of(name, number)
  local feed = feeds[name] and feeds[name][number]
  if feed == nil then error('nobody follows ' .. name .. ': the instance was started anew, or the space was dropped') end
  return feed
end

-- The trigger is of the statement; what it knows is kept when the transaction is committed, which is not before it is in the log.
function M.follow(name, records)
  local feed = {changes = {}, first = 1, last = 0, more = fiber.cond()}
  feeds[name] = feeds[name] or {}
  table.insert(feeds[name], feed)
  box.space[name]:on_replace(function(old, new)
    if old == nil and new == nil then return end
    local change = new ~= nil and {'put', new[1], records and new or nil} or {'delete', old[1]}
    box.on_commit(function()
      feed.last = feed.last + 1
      feed.changes[feed.last] = change
      feed.more:broadcast()
    end)
  end)
  return #feeds[name]
end

-- What is behind `after`, which the client has and will not ask for again.
function M.changes(name, number, after, count, seconds)
  local feed = feed_of(name, number)
  for told = feed.first, after do feed.changes[told] = nil end
  feed.first = after + 1
  local deadline = fiber.clock() + seconds
  while feed.last - after < count and fiber.clock() < deadline do
    feed.more:wait(math.max(0, deadline - fiber.clock()))
  end
  local found = {}
  for next = after + 1, math.min(feed.last, after + count) do found[#found + 1] = feed.changes[next] end
  return found
end

-- The triggers go with the space.
local clear = M.clear
function M.clear(name)
  feeds[name] = nil
  clear(name)
end
"""
"""A continuation of the chunk that `FUNCTIONS` begins."""


class Followed:
    """The part of a space that is followed: Feed, ResumableFeed. The token is the number of the last change that was answered."""

    _session: Any
    _name: str
    _feed: Any = None
    _feed_number = 0
    _last = 0

    def decode(self, found: Sequence[Any]) -> Any:
        """The record of a whole tuple."""
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
        """Close its connection."""
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def resume_feed(self) -> None:
        """Another connection."""
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
        raise session.judged(reason) from reason
    return type(session)(connection, {"engine": session.engine, "index": session.index})
