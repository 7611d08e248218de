"""The connection to Tarantool, what its errors mean, and our Lua functions in the server."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final

import msgpack
import tarantool
import tarantool.response
from tarantool.error import DatabaseError, Error, NetworkError, SslError
from tarantool.msgpack_ext.unpacker import ext_hook

from storeproof.adapters.tarantool.notation import UNPACKABLE
from storeproof.contract import Address, Refused, Unknown, Unsupported, Version, WrongReply


class Server(ABC):
    """A part of a session."""

    @abstractmethod
    def call(self, function: str, *args: Any) -> Any:
        """Call one of the functions in `server.lua`; all that it returns, as a list."""

    def version(self) -> Version:
        product, number = self.call("version")
        return Version(product, number)

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return dict(zip(names, self.call("settings", list(names))[0], strict=True))

    def compact(self) -> str:
        """A snapshot of memtx and a dump of vinyl; a new log file is begun."""
        self.call("snapshot")
        return "box.snapshot()"


_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

# From src/box/errcode.h.
_NO_SUCH_PROC: Final = 33
_LEFT_OPEN: Final = frozenset({78, 116, 216, 217})
"""ER_TIMEOUT; ER_LOADING, which only says that the instance is not ready yet; ER_SYNC_QUORUM_TIMEOUT and ER_SYNC_ROLLBACK, after which
another instance may still commit the transaction."""

_WAL_IO: Final = 40
"""ER_WAL_IO: "Failed to write to disk". In a synchronous space also for a transaction that is in the log, and was rolled back because an
earlier one found no quorum: as with ER_SYNC_ROLLBACK, another instance may still commit it."""

_UNSUPPORTED: Final = 5
"""ER_UNSUPPORTED"""

FAILURES: Final = (Error, *UNPACKABLE, LookupError, AttributeError, msgpack.UnpackException)
"""What the connector raises; the last three where it cannot read a reply."""

_FUNCTIONS: Final = "".join(
    files(__package__).joinpath(f"{name}.lua").read_text(encoding="utf-8") for name in ("spaces", "indexes", "structures", "feed", "server")
)
"""One chunk: later files see the `local` functions of earlier ones, and the last one answers the status of the instance."""


def _failure_of(reason: Exception) -> Exception:
    """Errors of the network leave the question open; replies with an error, and what could not be sent, are refusals.

    The connector makes an error of the network of whatever stops it while it connects, also of a wrong password.
    """
    if isinstance(reason, NetworkError) and isinstance(reason.__cause__, DatabaseError) and not isinstance(reason.__cause__, NetworkError):
        reason = reason.__cause__
    if _unreadable(reason):
        return WrongReply(f"a reply that cannot be read: {type(reason).__name__}: {reason}")
    if isinstance(reason, (NetworkError, SslError)):
        return Unknown(f"{type(reason).__name__}: {reason}")
    if isinstance(reason, DatabaseError) and _LEFT_OPEN.intersection(reason.args[:1]):
        return Unknown(str(reason))
    if isinstance(reason, DatabaseError) and reason.args[:1] == (_UNSUPPORTED,):
        return Unsupported(f"the server says: {reason}")
    return Refused(str(reason))


def _unreadable(reason: Exception) -> bool:
    """Whether the connector stumbled over a reply: it raises the same for what it cannot pack, and then nothing was sent."""
    if isinstance(reason, NetworkError):  # which it makes of all that stops it while it connects
        return isinstance(reason.__cause__, (ValueError, LookupError, msgpack.UnpackException)) or "Unsupported protocol" in str(reason)
    if isinstance(reason, Error):
        return False
    frames = traceback.walk_tb(reason.__traceback__)
    return any(frame.f_code.co_filename == tarantool.response.__file__ or frame.f_code.co_name == "_read_response" for frame, _ in frames)


class _Connection(tarantool.Connection):  # type: ignore[misc]  # the connector has no types
    """A connection that is lost when it is lost. The connector itself would look for that before each request, warn, wait and connect."""

    def _opt_reconnect(self) -> None:
        if self._socket is None:
            self.connect()


class Link(Server):
    """One connection, and what is sent over it."""

    def __init__(self, connection: tarantool.Connection, options: Mapping[str, str]) -> None:
        self.connection = connection
        self.engine = options.get("engine", "memtx")
        self.index = options.get("index", "tree")
        self.synchronous = options.get("commits") == "synchronous"

    def run(self, request: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Send one of the connection's requests and answer the data of the reply."""
        try:
            return request(*args, **options).data
        except FAILURES as reason:
            raise self.failure_of(reason) from reason

    def call(self, function: str, *args: Any) -> Any:
        """Call one of our Lua functions; after a restart the server is given them again. All that it returns, as a list."""
        try:
            return self.connection.call(f"storeproof.{function}", args).data
        except DatabaseError as reason:
            if reason.args[:1] != (_NO_SUCH_PROC,):
                raise self.failure_of(reason) from reason
        except FAILURES as reason:
            raise self.failure_of(reason) from reason
        self.install()
        return self.run(self.connection.call, f"storeproof.{function}", args)

    def install(self) -> str:
        """Give the server our functions; answers its status."""
        return str(self.run(self.connection.eval, _FUNCTIONS)[0])

    def close(self) -> None:
        with suppress(Exception):
            self.connection.close()

    def failure_of(self, reason: Exception) -> Exception:
        """The error of the contract that this one is."""
        failure = _failure_of(reason)
        if self.synchronous and isinstance(reason, DatabaseError) and reason.args[:1] == (_WAL_IO,):
            failure = Unknown(str(reason))
        if isinstance(failure, (Unknown, WrongReply)):
            self.close()  # a late reply would be taken for that of the next request: the connector does not compare numbers
        return failure


def unpacker(connection: tarantool.Connection) -> msgpack.Unpacker:
    """As the connector's own, but bytes that are no UTF-8 in a text are kept, and not an error.

    Since 2.8.1 the message of a duplicate key quotes both tuples with their raw bytes, and the connector could not read the refusal.
    """
    options = {"raw": False, "strict_map_key": False, "unicode_errors": "surrogateescape", "use_list": connection.use_list}
    return msgpack.Unpacker(**options, ext_hook=lambda code, data: ext_hook(code, data, msgpack.Unpacker(**options)))


def open_connection(address: Address, seconds: float = _TIMEOUT) -> tarantool.Connection:
    """Connect and authenticate. `seconds`: how long to wait for a connection, and for a reply.

    Raises:
        Refused: wrong credentials.
        Unknown: no server answers.
    """
    try:
        return _Connection(
            address.host,
            address.port,
            user=address.user,
            password=address.password,
            socket_timeout=seconds,
            connection_timeout=seconds,
            reconnect_max_attempts=0,
            reconnect_delay=0,
            transport="ssl" if address.tls else "",
            unpacker_factory=unpacker,
        )
    except FAILURES as reason:
        raise _failure_of(reason) from reason
