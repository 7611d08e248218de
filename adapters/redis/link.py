"""A connection to Redis: commands, scripts, and what their errors mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import redis
from redis.exceptions import AuthenticationError, DataError, InvalidResponse, NoScriptError, RedisError, ResponseError

from storeproof.adapters.redis.managed import has_untrusted_certificate
from storeproof.adapters.redis.scripts import Script
from storeproof.contract import Refused, Unknown, Unsupported, WrongReply

_NOT_OFFERED: Final = re.compile(r"(ERR )?unknown (sub)?command|.*\b(not supported|unsupported command)\b", re.IGNORECASE)
"""How the error replies begin of a server that has not what was asked."""

READS: Final = frozenset(
    [
        "BGREWRITEAOF",
        "BGSAVE",
        "CONFIG GET",
        "EXISTS",
        "GEODIST",
        "GEOSEARCH",
        "GET",
        "HGET",
        "HGETALL",
        "HMGET",
        "INFO",
        "LLEN",
        "LRANGE",
        "MGET",
        "PING",
        "PTTL",
        "SCAN",
        "SCARD",
        "SISMEMBER",
        "SMEMBERS",
        "ZCARD",
        "ZRANGE",
        "ZREVRANGE",
        "ZREVRANK",
        "ZSCORE",
    ]
)
"""Commands that write no record; all others wait for replicas, if the variant does."""
_WAIT_MS: Final = 1000
"""As long as a failover takes at least: a write that is not replicated by then is not acknowledged."""

FAILURES: Final = (RedisError, UnicodeEncodeError, OSError, ValueError, IndexError, RecursionError)
"""What the client raises; the last three where it cannot read a reply."""


def failure_of(reason: Exception) -> Exception:
    """Error replies and requests that never left are refusals; anything else leaves the question open.

    `AuthenticationError` comes first: redis-py makes it a kind of lost connection.
    """
    if isinstance(reason, ResponseError) and _NOT_OFFERED.match(str(reason)):
        return Unsupported(f"the server says: {reason}")
    if isinstance(reason, (InvalidResponse, RecursionError, IndexError)) or (
        isinstance(reason, ValueError) and not isinstance(reason, UnicodeEncodeError)
    ):
        return WrongReply(f"a reply that cannot be read: {type(reason).__name__}: {str(reason)[:300]}")
    if isinstance(reason, (AuthenticationError, ResponseError, DataError, UnicodeEncodeError)) or has_untrusted_certificate(reason):
        return Refused(str(reason))
    return Unknown(f"{type(reason).__name__}: {reason}")


class RedisLink:
    def __init__(self, client: redis.Redis, replicas: int = 0) -> None:
        """`replicas`: a write is acknowledged once that many replicas have it (WAIT)."""
        self._client = client
        self._execute: Callable[..., Any] = client.execute_command
        self._replicas = replicas

    @property
    def options(self) -> dict[str, str]:
        """The variant's options that it carries out."""
        return {"wait": str(self._replicas)} if self._replicas else {}

    def run(self, *command: Any) -> Any:
        try:
            return self._call(command, writes=command[0] not in READS)
        except FAILURES as reason:
            raise failure_of(reason) from reason

    def script(self, script: Script, keys: Sequence[str], args: Iterable[Any]) -> Any:
        """Run a script. NOSCRIPT says that nothing ran: a server that lost its scripts is given the text again."""
        arguments = (len(keys), *keys, *args)
        try:
            try:
                return self._call(("EVALSHA", script.digest, *arguments), writes=script.writes)
            except NoScriptError:
                return self._call(("EVAL", script.text, *arguments), writes=script.writes)
        except FAILURES as reason:
            raise failure_of(reason) from reason

    def _call(self, command: Sequence[Any], *, writes: bool) -> Any:
        """Send a command, and WAIT after a write. Raises what the client raises, and `Unknown` if too few replicas have it.

        WAIT goes over the same connection, which the client does not open again by itself: on another one there would be nothing to wait
        for, and the answer would be yes. It is a request of its own, so that the wire engine, which does not look at numbers in replies,
        leaves these variants to the client.
        """
        reply = self._execute(*command)
        if writes and self._replicas:
            try:
                reached = self._execute("WAIT", self._replicas, _WAIT_MS)
            except FAILURES as reason:  # the write itself happened
                raise Unknown(f"WAIT: {reason}") from reason
            if reached < self._replicas:
                raise Unknown(f"WAIT: {reached} of {self._replicas} replicas have the write after {_WAIT_MS} ms")
        return reply

    def together(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Send commands as one MULTI, which runs them on one state of the data, and read their replies.

        Raises `Unsupported` for writes that are to wait for replicas: the client takes another connection, on which WAIT has nothing to
        wait for.
        """
        writes = [each[0] for each in commands if each[0] not in READS]
        if writes and self._replicas:
            raise Unsupported(f"the client sends a MULTI with {writes[0]} over another connection than WAIT")
        try:
            with self._client.pipeline(transaction=True) as line:
                for command in commands:
                    line.execute_command(*command)  # type: ignore[no-untyped-call]  # the client has no types here
                replies = list(line.execute(raise_on_error=False))
        except FAILURES as reason:
            raise failure_of(reason) from reason
        for failed in (each for each in replies if isinstance(each, Exception)):
            raise Unknown(f"a command of a MULTI failed after others had run: {failed}") if writes else failure_of(failed)
        return replies

    @property
    def database(self) -> int:
        return int(self._client.get_connection_kwargs()["db"])

    def listener(self) -> Any:
        """The client's PubSub, which subscribes over a connection of its own, and ends with this one at the latest."""
        return self._client.pubsub()  # type: ignore[no-untyped-call]  # the client has no types here

    def close(self) -> None:
        with suppress(Exception):
            self._client.close()
