"""HTTP/1.1 (RFC 9112).

Counts 1, and 0 for 404. A status of 400 and above is an error otherwise.
"""

from __future__ import annotations

from typing import Final, Literal

from tests.load.wire.framing.frame import MOST, Framer, Malformed, shown, size_of, text_of

_VERSION: Final = b"HTTP/1.1 "
_BLANKS: Final = b" \t\r\n\f"
_EMPTY: Final = (204, 304)
_DIGITS: Final = 8
"""Hexadecimal, of the size of a chunk."""
_NOT_FOUND: Final = 404


class Http(Framer):
    """Lines of the head; then the body, in one or in chunks."""

    def _reset(self) -> None:
        super()._reset()
        self._part: Literal["status", "header", "body", "chunk", "trailer"] = "status"
        self._status = 0
        self._size = -1
        self._chunked = False

    def _unit(self, data: bytes, at: int) -> int:
        if self._part == "body":
            if len(data) - at < self._size:
                return self._more(self._size)
            self._complete = True
            return at + self._size
        after = self._line(data, at)
        if not after:
            return 0
        line = text_of(data, at, after)
        match self._part:
            case "status":
                self._begin(line)
            case "header" if line:
                self._header(line)
            case "header":
                self._follow()
            case "chunk":
                return self._chunk(data, at, after, line)
            case "trailer":
                self._complete = not line
        return after

    def _begin(self, line: bytes) -> None:
        code = line[len(_VERSION) : len(_VERSION) + 3]
        rest = line[len(_VERSION) + 3 :]
        if not line.startswith(_VERSION) or not code.isdigit() or not 100 <= int(code) < 600 or rest[:1].strip(b" "):
            raise Malformed("no status line of HTTP/1.1")
        self._status, self._part = int(code), "header"
        self._count = int(self._status != _NOT_FOUND)
        if self._status >= 400 and self._status != _NOT_FOUND:
            self._error = shown(line)

    def _header(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if not colon:
            raise Malformed("a header without a name")
        match name.lower():
            case b"content-length":
                size = size_of(value.strip(_BLANKS))
                if self._size not in (-1, size):
                    raise Malformed("two lengths")
                self._size = size
            case b"transfer-encoding":
                if value.strip(_BLANKS).lower() != b"chunked":
                    raise Malformed("an encoding other than chunks")
                self._chunked = True

    def _follow(self) -> None:
        """What comes after the head."""
        if self._status < 200:  # of an interim answer nothing does, and the real one is to come
            self._part, self._size, self._chunked = "status", -1, False
        elif self._status in _EMPTY:
            self._complete = True
        elif self._chunked:
            self._part = "chunk"
        elif self._size < 0:
            raise Malformed("a body without a length")
        else:
            self._part, self._complete = "body", not self._size

    def _chunk(self, data: bytes, at: int, after: int, line: bytes) -> int:
        digits = line.partition(b";")[0].strip(_BLANKS)
        if not 0 < len(digits) <= _DIGITS or digits.strip(b"0123456789abcdefABCDEF"):
            raise Malformed("the size of a chunk was expected")
        size = int(digits, 16)
        if not size:
            self._part = "trailer"
            return after
        if size > MOST:
            raise Malformed(f"a reply of more than {MOST} bytes")
        after += size + 2
        if after > len(data):
            return self._more(after - at)
        if data[after - 2 : after] != b"\r\n":
            raise Malformed("a chunk that does not end where it should")
        return after
