"""RESP, versions 2 and 3: what Redis, Valkey and their like answer.

Counts: nil 0, a string or status 1, an integer its value, a map its pairs, an array or set its elements but for nils and
empty arrays, which stand for what is not there. An error anywhere in a reply is an error.
"""

from __future__ import annotations

from typing import Final

from tests.load.wire.framing.frame import MOST, Framer, Malformed, number, shown, text_of

_DEEPEST: Final = 16
"""Arrays within each other; no command answers with deeper ones."""
_STRINGS: Final = frozenset((b"$", b"=", b"!"))
_GATHERINGS: Final = {b"*": 1, b"~": 1, b"%": 2}
"""Arrays, sets and maps, and how many values each of their elements is."""
_ABSENT: Final = frozenset((*_STRINGS, *_GATHERINGS, b"_"))
"""Of these nil and what is empty stand, in an array, for what is not there."""


class Resp(Framer):
    """One value after the other; an array is read element by element."""

    def __init__(self) -> None:
        super().__init__()
        self._left: list[int] = []  # elements that are still to come, of each array that was begun
        self._listed = False  # the reply is an array or a set

    def _unit(self, data: bytes, at: int) -> int:
        after = self._line(data, at)
        if not after:
            return 0
        kind = data[at : at + 1]
        inside = 0
        if kind in _STRINGS:
            count, after = self._string(data, at, after)
            if not after:
                return 0
        elif kind in _GATHERINGS:
            count = number(text_of(data, at + 1, after))
            count = count if count >= 0 else _nil(count)
            if count > MOST:
                raise Malformed("more elements than a reply has bytes")
            inside = count * _GATHERINGS[kind]
        else:
            count = self._simple(kind, data[at + 1 : after])
        left = self._left
        if not left:
            self._count, self._listed = count, kind in b"*~"
        elif len(left) == 1 and self._listed and not count and kind in _ABSENT:
            self._count -= 1
        if inside:
            if len(left) == _DEEPEST:
                raise Malformed("arrays within arrays, too deep")
            left.append(inside)
            return after
        while left:  # an element is whole, and with it each array whose last one it was
            left[-1] -= 1
            if left[-1]:
                return after
            left.pop()
        self._complete = True
        return after

    def _string(self, data: bytes, at: int, begin: int) -> tuple[int, int]:
        """What a string counts whose bytes are at `begin`, and where it ends: as `_unit` answers."""
        is_error = data[at : at + 1] == b"!"
        if is_error:
            self._refused(b"")
        size = number(text_of(data, at + 1, begin))
        if size < 0:
            return _nil(size), begin
        after = begin + size + 2
        if after > len(data):
            return 0, self._more(after - at)
        if data[after - 2 : after] != b"\r\n":
            raise Malformed("a string that does not end where it should")
        if is_error:
            self._error = self._error or shown(data[begin : after - 2])
        return 1, after

    def _simple(self, kind: bytes, line: bytes) -> int:
        """What a value of one line counts. Words may end with LF alone, all else ends with CR LF."""
        if kind == b"+":
            return 1
        if kind == b"-":
            self._refused(line.rstrip(b"\r\n"))
            return 0
        text = text_of(line, 0, len(line))
        match kind:
            case b":":
                return number(text)
            case b"," | b"(":
                return 1
            case b"_":
                return 0
            case b"#":
                return int(text == b"t")
        raise Malformed("no value of RESP")

    def _refused(self, words: bytes) -> None:
        if self._error is None:
            self._error = shown(words)


def _nil(size: int) -> int:
    if size != -1:
        raise Malformed("a length below nothing")
    return 0
