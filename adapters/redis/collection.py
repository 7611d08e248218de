"""The keys of one collection, whatever kind of Redis' own is under them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from time import sleep
from typing import Any, Final

from storeproof.adapters.redis.link import RedisLink
from storeproof.adapters.redis.scripts import PERSIST
from storeproof.contract import Attempts, Cursor, Key, Layout

_SCAN_BATCH: Final = 1000
"""Keys that `clear` asks for at a time."""
_SCAN_SECONDS: Final = 600.0
"""For a walk over all that the database holds, also of others."""


class Named:
    """The keys under one prefix; nothing is there to be created."""

    unsupported_because: Mapping[str, str] = {
        "Count": "DBSIZE counts the keys of a whole database; no command counts those with a prefix",
        "Ordered": "keys are kept in a hash table without an order",
        "ResumableFeed": "keyspace notifications are not kept for disconnected clients",
        "Prefix": "keys with a prefix can only be found by scanning all keys (SCAN), in no order",
    }

    def __init__(self, session: RedisLink, layout: Layout) -> None:
        self._session = session
        self._run = session.run
        self._prefix = f"{layout.name}:"
        self._numbered = layout.model.key == "integer"

    def prepare(self) -> None:
        """A key comes to be by its first write."""

    def _unfollow(self) -> None:
        """End what listens to the collection."""

    def clear(self) -> None:
        """Remove the keys under the prefix; a layout's name holds no character that MATCH reads as a pattern."""
        self._unfollow()
        cursor, calls = 0, Attempts(f"a SCAN of {self._prefix}*", _SCAN_SECONDS, math.inf)
        while True:
            calls.count()
            cursor, keys = self._run("SCAN", cursor, "MATCH", f"{self._prefix}*", "COUNT", _SCAN_BATCH)
            if keys:
                self._run("UNLINK", *keys)
            if cursor == 0:
                return

    def describe(self) -> Mapping[str, str]:
        """What is set on the connection; Redis has no indexes."""
        return {"indexes": "0", **self._session.options}

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """SCAN, of all that the database holds: where others have keys too, most answers have few of ours."""
        onwards, found = self._run("SCAN", cursor or 0, "MATCH", f"{self._prefix}*", "COUNT", count)
        names = [name[len(self._prefix) :].decode() for name in found]
        return int(onwards) or None, [int(name) if self._numbered else name for name in names]


class Keys(Named):
    """Keys that end by themselves."""

    def expire(self, key: Key, seconds: int) -> bool:
        return bool(self._run("EXPIRE", f"{self._prefix}{key}", seconds) == 1)

    def expires_in(self, key: Key) -> float | None:
        """PTTL, which is below zero where there is no key, or no end."""
        milliseconds: int = self._run("PTTL", f"{self._prefix}{key}")
        return None if milliseconds < 0 else milliseconds / 1000

    def persist(self, key: Key) -> bool:
        """PERSIST and EXISTS in one script: PERSIST alone does not tell an absent key from one without an end."""
        return bool(self._session.script(PERSIST, [f"{self._prefix}{key}"], ()) == 1)


class RedisCollection(Keys):
    """Keys whose records are read and written as a whole."""

    def delete(self, key: Key) -> bool:
        return bool(self._run("DEL", f"{self._prefix}{key}") == 1)

    def exists(self, key: Key) -> bool:
        return bool(self._run("EXISTS", f"{self._prefix}{key}") == 1)


_CHILDREN: Final = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
_CHILD_SECONDS: Final = 600.0
_LOOK: Final = 0.002
"""Seconds between two looks at what a child of the server does."""


def rewrite(run: Callable[..., Any]) -> str:
    """BGREWRITEAOF where there is a log, else BGSAVE; both are done by a child, whose end only INFO tells. The command that was used.

    `run`: sends a command and returns the reply.
    """
    command = "BGREWRITEAOF" if run("INFO", "persistence")["aof_enabled"] else "BGSAVE"
    run(command)
    looks = Attempts(f"the end of {command}", _CHILD_SECONDS, math.inf)
    while any(run("INFO", "persistence")[each] for each in _CHILDREN):
        looks.count()
        sleep(_LOOK)
    return command
