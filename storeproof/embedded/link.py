"""The client's side: one connection to a host, and its errors sorted."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import msgpack

from storeproof.contract import Address, Refused, Unknown, Unsupported, WrongReply
from storeproof.embedded.framing import TooLong, packed, receive

_TIMEOUT_SECONDS = 10.0
_FAILURES = {"refused": Refused, "unsupported": Unsupported, "unknown": Unknown}


class HostError(Exception):
    """A function of the host failed in a way that it did not expect: a mistake in the adapter, not the store's and not the machine's."""


class Link:
    """One connection to a host. One request is in flight at a time."""

    def __init__(self, address: Address, seconds: float = _TIMEOUT_SECONDS) -> None:
        """`seconds`: how long is waited for a connection and for each reply. Raises `Unknown` where no host answers."""
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout=seconds)
        except OSError as reason:
            raise Unknown(f"the host of the embedded store does not answer: {reason}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb", buffering=65536)

    def call(self, name: str, *arguments: Any) -> Any:
        """What the host's function of that name returns.

        Raises:
            Refused, Unsupported, Unknown: as the host sorted it; Unknown too where the connection is lost or no reply comes in time.
            WrongReply: the reply is none of this protocol.
            HostError: the function failed in a way that the host does not sort.
        """
        try:
            request = packed([name, *arguments])
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
        match _unpacked(answer):
            case [0, int(), value]:
                return value
            case [1, str(kind), str(message)] if kind in _FAILURES:
                raise _FAILURES[kind](message)
            case [1, "error", str(message)]:
                raise HostError(
                    f"the host's function `{name}` failed: {message}; `serve(errors=...)` says how the library's errors are meant"
                )
        raise WrongReply(f"the host's answer to {name} is not one of the protocol `embedded`: {answer[:60]!r}")

    @contextlib.contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Within it replies are waited for longer, or less long: some things take their time."""
        usual = self._socket.gettimeout()
        self._socket.settimeout(seconds)
        try:
            yield
        finally:
            self._socket.settimeout(usual)

    def close(self) -> None:
        """End the connection."""
        self._replies.close()
        self._socket.close()


def _unpacked(answer: bytes) -> Any:
    try:
        return msgpack.unpackb(answer, raw=False, strict_map_key=False)
    except Exception:  # noqa: BLE001 - msgpack has half a dozen kinds for what is no MessagePack
        return None
