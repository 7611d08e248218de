"""A message of the protocol `embedded`: four bytes of length, big-endian, then MessagePack."""

from __future__ import annotations

import struct

import msgpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Stream(Protocol):
        """A buffered reader of a socket."""

        def read(self, size: int, /) -> bytes: ...


LENGTH = struct.Struct(">I")
LONGEST = 256 * 1024 * 1024
"""Most bytes of one message; far above any record of the specification."""


class TooLong(ValueError):
    """The length is beyond what the protocol allows, or the data is not of this protocol."""


def pack(value: Any) -> bytes:
    """A whole message. Raises what msgpack raises: TypeError, ValueError, OverflowError, UnicodeEncodeError."""
    body: bytes = msgpack.packb(value, use_bin_type=True)
    return LENGTH.pack(len(body)) + body


def receive(stream: Stream) -> bytes | None:
    """The body of the next message; None where the stream has ended, also in the middle of one.
    Raises `TooLong`: its length is not allowed."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if length > LONGEST:
        raise TooLong(f"a message of {length} bytes; allowed: {LONGEST}")
    body = stream.read(length)
    return body if len(body) == length else None
