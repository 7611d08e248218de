"""BSON (https://bsonspec.org/spec.html, version 1.1), as far as it takes to pass over it."""

from __future__ import annotations

import struct
from typing import Final

from tests.load.wire.framing.frame import Malformed

DOUBLE: Final = 0x01
DOCUMENT: Final = 0x03
ARRAY: Final = 0x04
TRUTH: Final = 0x08
PATTERN: Final = 0x0B
INT32: Final = 0x10
INT64: Final = 0x12

_SIZES: Final = {DOUBLE: 8, 0x06: 0, 0x07: 12, TRUTH: 1, 0x09: 8, 0x0A: 0, INT32: 4, 0x11: 8, INT64: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
_BEYOND: Final = {0x02: 0, DOCUMENT: -4, ARRAY: -4, 0x05: 1, 0x0C: 12, 0x0D: 0, 0x0E: 0, 0x0F: -4}
"""Bytes that follow a length beyond what it says: some count themselves."""
_FORMATS: Final = {DOUBLE: struct.Struct("<d"), INT32: struct.Struct("<i"), INT64: struct.Struct("<q"), TRUTH: struct.Struct("<B")}
_NAME: Final = 511
"""Bytes of the longest name: those that matter are short, and records have none that are as long."""
_LARGEST: Final = (1 << 63) - 1


def name(data: bytes, at: int, end: int) -> tuple[bytes, int]:
    """The name at `at`, and where it ends, its null byte included. Raises `Malformed`."""
    close = data.find(0, at, end)
    if close < 0 or close - at > _NAME:
        raise Malformed("a name that does not end")
    return data[at:close], close + 1


def begin(data: bytes, at: int, end: int) -> int:
    """Where the first element of the document or array at `at` stands. Raises `Malformed`."""
    if at + 4 > end or int.from_bytes(data[at : at + 4], "little") <= 4:
        raise Malformed("a length that cannot be")
    return at + 4


def skip(data: bytes, kind: int, at: int, end: int) -> int:
    """Where the value at `at` ends. Raises `Malformed`."""
    after = at
    if kind in _SIZES:
        after += _SIZES[kind]
    elif kind in _BEYOND:
        size = int.from_bytes(data[at : at + 4], "little") + _BEYOND[kind]
        if size < 0 or (not size and _BEYOND[kind] < 0):
            raise Malformed("a length that cannot be")
        after += 4 + size
    elif kind == PATTERN:
        after = name(data, name(data, at, end)[1], end)[1]
    else:
        raise Malformed(f"an element of the unknown type {kind}")
    if after > end:
        raise Malformed("an element that is cut off")
    return after


def whole(data: bytes, kind: int, at: int) -> int | None:
    """A number or truth value without its fraction; None for anything else."""
    if kind not in _FORMATS:
        return None
    found = _FORMATS[kind].unpack_from(data, at)[0]
    if found != found:  # not a number
        return 0
    return int(max(min(found, _LARGEST), -_LARGEST - 1))
