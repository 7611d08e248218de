"""The filler of records: slices of one fixed block of text, and numbers. Both are determined by a place, a hash of key and write id.

The parts of a record are adjacent in the block: they share no text, and a load generator that fills in ten fields reads one region
of memory, not ten.
"""

from __future__ import annotations

import base64
import random
from typing import Final
from zlib import crc32

from storeproof.contract.values import Key
from storeproof.spec.model import Integer, Real

BLOCK: Final = 1 << 20
TEXT: Final = base64.b64encode(random.Random(20).randbytes(BLOCK * 3 // 4)).decode("ascii") * 2
BYTES: Final = TEXT.encode("ascii")
MASK: Final = BLOCK - 1
SEPARATOR: Final = "|"
"""Ends the write id at the head of a part. Occurs neither in write ids nor in filler."""
REAL_SCALE: Final = 1024.0
"""Divisor of integers that are stored as doubles. A power of two: the doubles have a fraction, and are still exact."""


def place_of(key: Key, write_id: str) -> int:
    """The place of a record, from 0 to 2^32 - 1: where its filler begins, modulo the size of the block."""
    return crc32(f"{key}\0{write_id}".encode())


def apart(length: int) -> int:
    """The distance between the filler of a part of this length and that of the next part: one byte more than the length, so that the
    parts differ even if each is as long as the block."""
    return length + 1


def pick(place: int, among: int) -> int:
    """A uniform choice from 0 to among - 1, by the upper bits of the place: the lower bits already determine the filler."""
    return place * among >> 32


def text_at(place: int, length: int) -> str:
    """`length` characters of filler."""
    at = place & MASK
    if length <= BLOCK:
        return TEXT[at : at + length]
    whole, rest = divmod(length, BLOCK)
    return TEXT[at : at + BLOCK] * whole + TEXT[at : at + rest]


def bytes_at(place: int, length: int) -> bytes:
    """As `text_at`, in ASCII bytes."""
    at = place & MASK
    if length <= BLOCK:
        return BYTES[at : at + length]
    whole, rest = divmod(length, BLOCK)
    return BYTES[at : at + BLOCK] * whole + BYTES[at : at + rest]


def text_of(head: str, place: int, length: int) -> str:
    """`length` characters: the head (write id and separator), then filler; filler alone if the head does not fit."""
    room = length - len(head)
    return head + text_at(place, room) if room >= 0 else text_at(place, length)


def number_of(shape: Integer | Real, place: int) -> int | float:
    """A number from the whole range of the shape (multiplicative hashing by the golden ratio; Knuth, TAOCP 6.4)."""
    bits = (place * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    if isinstance(shape, Real):
        return (bits >> 11) / REAL_SCALE
    return (bits >> (64 - shape.integer)) - (1 << (shape.integer - 1))
