"""A client of the process that hosts SQLite (`sqlite_host`, which has the protocol)."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Any, Literal, cast

import msgpack

from storeproof.contract import Address, Refused, Unknown

_LENGTH = struct.Struct(">I")
_TIMEOUT_SECONDS = 10.0
_DROP_SECONDS = 120.0


class Link:
    """One connection to the host."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._others: list[Link] = []
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout=_TIMEOUT_SECONDS)
        except OSError as reason:
            raise Unknown(f"the host of SQLite does not answer: {reason}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb", buffering=65536)

    def read(self, statement: str, *parameters: Any) -> list[list[Any]]:
        """The rows that a statement finds."""
        return cast(list[list[Any]], self._ask([False, [[statement, parameters]]])[0])

    def write(self, statement: str, *parameters: Any) -> tuple[list[list[Any]], int]:
        """Run one statement as a transaction; the rows it returns and the number of rows it changed."""
        rows, changes = self._ask([True, [[statement, parameters]]])
        return rows, changes

    def write_all(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[list[Any]]:
        """Run all statements as one transaction, in one request; the rows of the last one that answers with rows."""
        return cast(list[list[Any]], self._ask([True, statements])[0])

    def drop(self, statements: Sequence[str]) -> None:
        """Drop tables, as one transaction. SQLite goes through all of their pages, seconds for a gigabyte: it is waited for longer."""
        self._socket.settimeout(_DROP_SECONDS)
        try:
            self.write_all([(statement, ()) for statement in statements])
        finally:
            self._socket.settimeout(_TIMEOUT_SECONDS)

    def lead(self, word: Literal["begin", "commit", "rollback"]) -> None:
        """Begin a transaction to which all further requests belong, or end it."""
        self._ask([word, []])

    def another(self) -> Link:
        """A further connection, which ends with this one at the latest."""
        self._others.append(Link(self._address))
        return self._others[-1]

    def close(self) -> None:
        """End the connection."""
        for other in self._others:
            other.close()
        self._replies.close()
        self._socket.close()

    def _ask(self, request: list[Any]) -> list[Any]:
        try:
            body = msgpack.packb(request, use_bin_type=True)
        except (UnicodeEncodeError, OverflowError, ValueError) as reason:
            raise Refused(f"cannot be sent: {reason}") from None
        try:
            self._socket.sendall(_LENGTH.pack(len(body)) + body)
            head = self._replies.read(_LENGTH.size)
            answer = self._replies.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
        except (OSError, ValueError) as reason:
            raise Unknown(f"connection lost: {reason}") from None
        if not answer:
            raise Unknown("connection lost: the host ended")
        status, *rest = msgpack.unpackb(answer, raw=False)
        if status == 0:
            return cast(list[Any], rest)
        kind, message = rest
        raise (Unknown if kind == "unknown" else Refused)(message)
