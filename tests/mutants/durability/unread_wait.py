"""Redis, whose client sends WAIT after each write, and does not look at the reply: the number of replicas that have the write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.adapters import redis
from storeproof.adapters.redis import client, cluster
from storeproof.contract import Address

__all__ = ["cluster", "connect"]
_WAIT = ("WAIT", 1, 100)


class Session(redis.RedisSession):
    """A session that takes any end of WAIT for a yes."""

    def _call(self, command: Sequence[Any], *, writes: bool) -> Any:
        reply = super()._call(command, writes=writes)
        if writes:
            self._execute(*_WAIT)
        return reply


def connect(address: Address, options: Mapping[str, str]) -> Session:
    """Open one session."""
    session = Session(client(address, options))
    session.run("PING")
    return session
