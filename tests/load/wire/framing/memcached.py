"""The text protocol of Memcached.

Counts: the VALUE blocks up to END; 1 for what was done, or a number; 0 for NOT_FOUND, NOT_STORED and EXISTS.
"""

from __future__ import annotations

from typing import Final

from tests.load.wire.framing.frame import Framer, Malformed, shown, size_of, text_of

_DONE: Final = {b"STORED": 1, b"DELETED": 1, b"TOUCHED": 1, b"OK": 1, b"NOT_FOUND": 0, b"NOT_STORED": 0, b"EXISTS": 0}
_ERRORS: Final = (b"CLIENT_ERROR ", b"SERVER_ERROR ")
_DIGITS: Final = 20
"""Of the largest number that is counted."""


class Memcached(Framer):
    """A line, or blocks of a line and its bytes."""

    def _unit(self, data: bytes, at: int) -> int:
        after = self._line(data, at)
        if not after:
            return 0
        if data.startswith(_ERRORS, at, after):
            self._error, self._complete = shown(data[at:after].rstrip()), True
            return after
        line = text_of(data, at, after)
        if line[:6] == b"VALUE ":
            return self._value(data, at, after, line)
        self._complete = True
        if line == b"ERROR":
            self._error = "ERROR"
        elif line != b"END":
            if self._count:
                raise Malformed("a VALUE or END was expected")
            if line in _DONE:
                self._count = _DONE[line]
            elif line.isdigit() and len(line) <= _DIGITS:
                self._count = 1
            else:
                raise Malformed("no answer of Memcached")
        return after

    def _value(self, data: bytes, at: int, after: int, line: bytes) -> int:
        _value, key, *words = line.split(b" ")
        if not key or len(words) not in (2, 3):
            raise Malformed("a VALUE of a key, flags and bytes was expected")
        for word in words[::2]:
            if not word.isdigit() or len(word) > 18:
                raise Malformed("a number was expected")
        after += size_of(words[1]) + 2
        if after > len(data):
            return self._more(after - at)
        if data[after - 2 : after] != b"\r\n":
            raise Malformed("a value that does not end where it should")
        self._count += 1
        return after
