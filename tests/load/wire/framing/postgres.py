"""PostgreSQL's messages, version 3 (https://www.postgresql.org/docs/current/protocol-message-formats.html).

A reply is all up to ReadyForQuery. Counts: its rows; where there are none, the numbers in what the commands tell of themselves.
"""

from __future__ import annotations

from typing import Final

from tests.load.wire.framing.frame import Framer, Malformed, shown

_PASSED_OVER: Final = frozenset(b"123nstTNSAI")
"""Parse, Bind and Close are complete, no data, suspended, descriptions, notices, parameters, notifications, an empty query."""
_TAG: Final = 512
"""Bytes of the longest thing that a command tells of itself."""


class Postgres(Framer):
    """Messages of a byte, a length and a body."""

    def _reset(self) -> None:
        super()._reset()
        self._rows = self._told = 0

    def _unit(self, data: bytes, at: int) -> int:
        if len(data) - at < 5:
            return self._more(5)
        kind, size = data[at], int.from_bytes(data[at + 1 : at + 5], "big")
        if size < 4:
            raise Malformed("a length below that of nothing")
        end = at + 1 + size
        if end > len(data):
            return self._more(1 + size)
        match kind:
            case 0x44:  # DataRow
                self._rows += 1
            case 0x43:  # CommandComplete
                self._told += _told(data[at + 5 : end])
            case 0x45:  # ErrorResponse
                self._error = self._error or _message(data[at + 5 : end])
            case 0x5A:  # ReadyForQuery
                if size != 5 or data[at + 5] not in b"ITE":
                    raise Malformed("a wrong end")
                self._count = self._rows or self._told
                self._complete = True
            case _ if kind not in _PASSED_OVER:
                raise Malformed("no message of PostgreSQL that answers a query")
        return end


def _message(body: bytes) -> str:
    """Severity, code and message of an error."""
    fields = {field[:1]: field[1:] for field in body.split(b"\0")}
    return shown(b" ".join(fields[key] for key in (b"S", b"C", b"M") if key in fields)) or shown(body)


def _told(body: bytes) -> int:
    """The number at the end of what a command tells of itself, `INSERT 0 1`; 0 where there is none."""
    if not body.endswith(b"\0") or len(body) > _TAG:
        raise Malformed("a command that does not say what it did")
    last = body[:-1].rpartition(b" ")[2]
    return int(last) if last.isdigit() and len(last) <= 18 else 0
