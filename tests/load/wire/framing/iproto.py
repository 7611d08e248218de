"""iproto: what Tarantool answers (https://www.tarantool.io/en/doc/latest/reference/internals/iproto/).

Counts: the tuples under IPROTO_DATA, 0 where there is none. One whose only entry is nil or false counts 0 too: so a function answers that
found nothing.
"""

from __future__ import annotations

from typing import Final

from tests.load.wire.framing import msgpack
from tests.load.wire.framing.frame import MOST, Framer, Malformed, shown

_CODE: Final = 0x00
_DATA: Final = 0x30
_ERROR: Final = 0x31
_IS_ERROR: Final = 0x8000
_CHUNK: Final = 0x80
"""What `box.session.push` sends, unrequested."""
_NOTHING: Final = (0xC0, 0xC2)
"""Nil and false."""
_PREFIX: Final = 5


class Iproto(Framer):
    """A length, a header, a body."""

    def _unit(self, data: bytes, at: int) -> int:
        begin = at + _PREFIX
        if begin > len(data):
            return self._more(_PREFIX)
        size = int.from_bytes(data[at + 1 : begin], "big")
        if data[at] != 0xCE or size > MOST:
            raise Malformed("no length")
        end = begin + size
        if end > len(data):
            return self._more(end - at)
        code, begin = _header(data, begin, end)
        if code & _IS_ERROR:
            self._error = _words(data, begin, end) or f"error {code & ~_IS_ERROR}"
        elif begin < end:
            self._count = _tuples(data, begin, end)
        self._complete = True
        return end


def _header(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The status, and where the body begins."""
    code = None
    kind, pairs, at = msgpack.value(data, at, end)
    if kind != "map":
        raise Malformed("a reply without a header")
    for _pair in range(pairs):
        of_key, key, at = msgpack.value(data, at, end)
        of_value, found, at = msgpack.value(data, at, end)
        if (of_key, of_value) != ("integer", "integer"):
            raise Malformed("a header of other things than numbers")
        code = found if key == _CODE else code
    if code is None or code == _CHUNK:
        raise Malformed("a reply without a status" if code is None else "an unrequested message")
    return code, at


def _tuples(data: bytes, at: int, end: int) -> int:
    """How many there are under IPROTO_DATA; what is in them is not looked at."""
    kind, pairs, at = msgpack.value(data, at, end)
    if kind != "map":
        raise Malformed("a reply without a body")
    for _pair in range(pairs):
        kind, key, at = msgpack.value(data, at, end)
        if kind != "integer":
            raise Malformed("a body of other things than numbers")
        if key == _DATA:
            kind, size, at = msgpack.value(data, at, end)
            if kind != "array" or size > end - at:
                raise Malformed("data that is no array")
            return 0 if size == 1 and data[at] in _NOTHING else size
        at = msgpack.skip(data, at, end)
    if at != end:
        raise Malformed("a reply that is shorter than it says")
    return 0


def _words(data: bytes, at: int, end: int) -> str:
    """What an error says of itself, where it can be read."""
    try:
        _kind, pairs, at = msgpack.value(data, at, end)
        for _pair in range(pairs):
            _kind, key, at = msgpack.value(data, at, end)
            after = msgpack.skip(data, at, end)
            if key == _ERROR:
                _kind, size, _after = msgpack.value(data, at, end)
                return shown(data[after - size : after])
            at = after
    except Malformed:
        pass  # it is an error whatever it says
    return ""
