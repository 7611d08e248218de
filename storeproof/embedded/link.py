"""The client: one connection to a host, whose errors become those of the contract."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import msgpack

from storeproof.contract import Address, Breach, GaveUp, Refused, Unknown, Unsupported, WrongReply
from storeproof.embedded.framing import TooLong, pack, receive

_TIMEOUT_SECONDS = 10.0
_FAILURES = {"refused": Refused, "gave_up": GaveUp, "unsupported": Unsupported, "unknown": Unknown}


class HostLink:
    """One connection to a host. One request is in flight at a time."""

    def __init__(self, address: Address, seconds: float = _TIMEOUT_SECONDS) -> None:
        """`seconds`: the time-out of the connection and of each reply. Raises `Unknown` if no host answers."""
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout=seconds)
        except OSError as reason:
            raise Unknown(f"the host of the embedded store does not answer: {reason}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb", buffering=65536)

    def call(self, name: str, *arguments: Any) -> Any:
        """What the host's function of that name returns.

        Raises:
            Refused, GaveUp, Unsupported, Unknown: as the host says; Unknown also if the connection is lost or no reply comes in time.
            WrongReply: the reply is not of this protocol.
            Breach: the function raised an exception that `serve(errors=...)` does not name.
        """
        try:
            request = pack([name, *arguments])
        except (TypeError, ValueError, OverflowError) as reason:
            raise Refused(f"cannot be sent: {reason}") from None
        try:
            self._socket.sendall(request)
            answer = receive(self._replies)
        except TooLong as reason:
            raise WrongReply(f"the host answers {name} with {reason}") from None
        except (OSError, ValueError) as reason:  # ValueError: the connection was closed
            raise Unknown(f"connection lost: {reason}") from None
        if answer is None:
            raise Unknown("connection lost: the host ended")
        match _unpack(answer):
            case [0, int(), value]:
                return value
            case [1, str(kind), str(message)] if kind in _FAILURES:
                raise _FAILURES[kind](message)
            case [1, "error", str(message)]:
                raise Breach(f"the host's function `{name}` failed: {message}; map the library's errors with `serve(errors=...)`")
        raise WrongReply(f"the host's answer to {name} is not one of the protocol `embedded`: {answer[:60]!r}")

    @contextlib.contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Another time-out for replies within the block, for slow operations."""
        usual = self._socket.gettimeout()
        self._socket.settimeout(seconds)
        try:
            yield
        finally:
            self._socket.settimeout(usual)

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


def _unpack(answer: bytes) -> Any:
    try:
        return msgpack.unpackb(answer, raw=False, strict_map_key=False)
    except Exception:  # noqa: BLE001 - msgpack raises half a dozen kinds of errors for malformed data
        return None
