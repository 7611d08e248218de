"""What the Tarantool adapter makes of errors: those whose message quotes raw bytes, as they are on the wire since 2.8.1, and those of
synchronous transactions."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import pytest

from storeproof.adapters import tarantool
from storeproof.contract import Address, Layout, Refused, Unknown
from tests.nuisance.protocols import Iproto, exactly
from tests.shipped import SHIPPED

DUPLICATE = (
    b'Duplicate key exists in unique index "primary" in space "sp_1" with old tuple - ["k", "\x80\xff"] and new tuple - ["k", "\xfe"]'
)
"""The message of ER_TUPLE_FOUND: the tuples are written as they are, also where they are no text."""
OTHER = b'Duplicate key exists in unique index "by \x80" in space "sp_1"'
_INSERT, _EVAL, _CALLS, _ERROR = 0x02, 0x08, (0x06, 0x0A), 0x8000
_FOUND, _WAL_IO, _QUORUM_TIMEOUT, _SYNC_ROLLBACK = 3, 40, 216, 217


class Server(Iproto):
    """It has one space, and refuses each insertion with the same error."""

    def __init__(self, message: bytes, error: int = _FOUND) -> None:
        super().__init__("3.7.1")
        self._message = message
        self._error = error

    def reply(self, reader: Any) -> bytes:
        first = exactly(reader, 1)
        size = msgpack.unpackb(first + exactly(reader, {0xCC: 1, 0xCD: 2, 0xCE: 4}.get(first[0], 0)))
        request = msgpack.Unpacker(raw=False, strict_map_key=False)
        request.feed(exactly(reader, size))
        header = request.unpack()
        code, number = header[0x00], header[0x01]
        if code == _INSERT:
            # Not by `packb`, which would write the bytes as bytes: on the wire they are a text.
            text = b"\xd9" + bytes([len(self._message)]) + self._message
            return _framed(msgpack.packb({0x00: _ERROR | self._error, 0x01: number, 0x05: 1}) + b"\x81\x31" + text)
        data: list[Any] = ["running"] if code == _EVAL else [512] if code in _CALLS else []
        return _framed(msgpack.packb({0x00: 0, 0x01: number, 0x05: 1}) + msgpack.packb({0x30: data, 0x54: 4, 0x55: []}))


def _framed(message: bytes) -> bytes:
    return b"\xce" + struct.pack(">I", len(message)) + message


@contextmanager
def serving(protocol: Server) -> Iterator[Address]:
    """One connection to it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as reader:
                connection.sendall(protocol.opening)
                while reader.peek(1):
                    connection.sendall(protocol.reply(reader))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield Address("127.0.0.1", listening.getsockname()[1])
        thread.join(10)


@pytest.mark.parametrize(("message", "told"), [(DUPLICATE, None), (OTHER, r"by \\udc80")])
def test_a_refusal_that_quotes_bytes_is_read(message: bytes, told: str | None) -> None:
    """A duplicate key is the answer to `put_if_absent`, whatever bytes its message quotes; one of another index is a refusal."""
    with serving(Server(message)) as address:
        session = tarantool.connect(address, {})
        values: Any = session.collection(Layout("sp_1", SHIPPED.models["single_key"]))
        try:
            if told is None:
                assert values.put_if_absent("k", b"\xfe") is False
            else:
                with pytest.raises(Refused, match=told) as raised:
                    values.put_if_absent("k", b"\xfe")
                assert str(raised.value).isprintable()
        finally:
            session.close()


@pytest.mark.parametrize(
    ("commits", "error", "failure"),
    [
        ("synchronous", _QUORUM_TIMEOUT, Unknown),
        ("synchronous", _SYNC_ROLLBACK, Unknown),
        ("synchronous", _WAL_IO, Unknown),
        ("asynchronous", _WAL_IO, Refused),
    ],
)
def test_a_synchronous_transaction_that_was_rolled_back_is_unknown(commits: str, error: int, failure: type[Exception]) -> None:
    """Replicas may have it: the next primary then commits it. "Failed to write to disk" is said of those that were in the log too."""
    with serving(Server(b"it was rolled back", error)) as address:
        session = tarantool.connect(address, {"commits": commits})
        values: Any = session.collection(Layout("sp_1", SHIPPED.models["single_key"]))
        try:
            with pytest.raises(failure, match="it was rolled back"):
                values.put_if_absent("k", b"v")
        finally:
            session.close()
