"""MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md), as far as it takes to pass over it."""

from __future__ import annotations

from typing import Final, Literal

from tests.load.wire.framing.frame import Malformed

Kind = Literal["integer", "array", "map", "bytes", "other"]

_LENGTHS: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSIONS: Final = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_INTEGERS: Final = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_SIGNED: Final = {0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
_FIXED: Final = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}
_MANY: Final[dict[int, tuple[Kind, int]]] = {0xDC: ("array", 2), 0xDD: ("array", 4), 0xDE: ("map", 2), 0xDF: ("map", 4)}


def value(data: bytes, at: int, end: int) -> tuple[Kind, int, int]:
    """The value at `at`: its kind, its number (an integer's value, the size of an array, map or text), and where it ends.

    An array or map ends before its first element. Raises `Malformed`.
    """
    if at >= end:
        raise Malformed("a value that is cut off")
    code, at = data[at], at + 1
    kind: Kind = "integer"
    size = after = 0
    if code < 0x80:
        size = code
    elif code >= 0xE0:
        size = code - 256
    elif code < 0x90:
        kind, size = "map", code - 0x80
    elif code < 0xA0:
        kind, size = "array", code - 0x90
    elif code < 0xC0:
        kind, size = "bytes", code - 0xA0
        after = size
    elif code in _INTEGERS or code in _SIGNED:
        width = _INTEGERS.get(code) or _SIGNED[code]
        size, at = int.from_bytes(data[at : at + width], "big", signed=code in _SIGNED), at + width
        kind = "integer" if size < 1 << 63 else "other"
    elif code in _LENGTHS or code in _EXTENSIONS:
        kind, width = "bytes", _LENGTHS.get(code) or _EXTENSIONS[code]
        size = int.from_bytes(data[at : at + width], "big")
        at, after = at + width, size + (code in _EXTENSIONS)
    elif code in _MANY:
        kind, width = _MANY[code]
        size, at = int.from_bytes(data[at : at + width], "big"), at + width
    elif code in _FIXED:
        kind, after = "other", _FIXED[code]
    else:
        raise Malformed("no value of msgpack")
    if at + after > end:
        raise Malformed("a value that is cut off")
    return kind, size, at + after


def skip(data: bytes, at: int, end: int) -> int:
    """Where the value at `at` ends, with all that is in it. Raises `Malformed`."""
    left = 1
    while left:
        kind, size, at = value(data, at, end)
        left += (size * 2 if kind == "map" else size if kind == "array" else 0) - 1
        if left > end - at:  # each takes a byte at least
            raise Malformed("a value that is cut off")
    return at
