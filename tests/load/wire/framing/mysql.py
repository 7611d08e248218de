"""The packets of MySQL and MariaDB that answer a query or a prepared statement.

(https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html.) Counts: the rows of a result set, or the rows that
were affected; of several results their sum.
"""

from __future__ import annotations

from typing import Final, Literal

from tests.load.wire.framing.frame import Framer, Malformed, shown

_WHOLE: Final = 0xFFFFFF
"""A packet of this size goes on in the next."""
_MORE_RESULTS: Final = 0x0008
_OK: Final = 0x00
_LOCAL_FILE: Final = 0xFB
_EOF: Final = 0xFE
_ERR: Final = 0xFF
_MOST_COLUMNS: Final = 4096
_SHORT: Final = 5
"""Bytes of an EOF packet; the OK packet that newer servers end rows with has 7 or more."""
_WIDTHS: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}


class Mysql(Framer):
    """Packets of a length, a number and a payload."""

    def _reset(self) -> None:
        super()._reset()
        self._part: Literal["result", "columns", "between", "rows"] = "result"
        self._columns = 0
        self._goes_on = False
        self._sequence = 0

    def _unit(self, data: bytes, at: int) -> int:
        begin = at + 4
        if begin > len(data):
            return self._more(4)
        size, sequence = int.from_bytes(data[at : at + 3], "little"), data[at + 3]
        end = begin + size
        if end > len(data):
            return self._more(end - at)
        if sequence != (self._sequence + 1) & 0xFF:
            raise Malformed("a packet out of its turn")
        self._sequence = sequence
        if not self._goes_on:
            if begin == end:
                raise Malformed("an empty packet")
            self._packet(data[begin:end])
        self._goes_on = size == _WHOLE
        return end

    def _packet(self, payload: bytes) -> None:
        first, size = payload[0], len(payload)
        if first == _ERR:
            self._error = shown(payload[9:] if payload[3:4] == b"#" else payload[3:])
            self._complete = True
            return
        match self._part:
            case "result" if first == _OK:
                self._end(payload)
            case "result" if first == _LOCAL_FILE:
                raise Malformed("a file was asked for")
            case "result":
                self._columns = _integer(payload, 0)[0]
                if not 0 < self._columns <= _MOST_COLUMNS:
                    raise Malformed("a number of columns was expected")
                self._part = "columns"
            case "columns":
                self._columns -= 1
                if not self._columns:
                    self._part = "between"
            case "between" if first == _EOF and size <= _SHORT:
                self._part = "rows"
            case "rows" if first == _EOF and size <= _SHORT:
                self._done(payload, 3)
            case _ if first == _EOF and size < _WHOLE:
                self._end(payload)
            case _:
                self._part = "rows"
                self._count += 1

    def _end(self, payload: bytes) -> None:
        """An OK packet: by itself, or after rows in place of an EOF packet."""
        affected, at = _integer(payload, 1)
        if affected >= 1 << 63:
            raise Malformed("more rows than can be")
        self._count += affected
        self._done(payload, _integer(payload, at)[1])

    def _done(self, payload: bytes, at: int) -> None:
        """A result is whole; its flags are at `at`."""
        if at + 2 > len(payload):
            raise Malformed("an end without flags")
        self._part = "result"
        self._complete = not int.from_bytes(payload[at : at + 2], "little") & _MORE_RESULTS


def _integer(payload: bytes, at: int) -> tuple[int, int]:
    """A length-encoded integer, and where it ends."""
    first = payload[at] if at < len(payload) else _LOCAL_FILE
    if first < _LOCAL_FILE:
        return first, at + 1
    width = _WIDTHS.get(first, 0)
    if not width or at + 1 + width > len(payload):
        raise Malformed("a number was expected")
    return int.from_bytes(payload[at + 1 : at + 1 + width], "little"), at + 1 + width
