"""What fills a record: text from one fixed block, and numbers, both found by a place that key and write id decide.

The parts of a record lie side by side in the block: they share no text, and a load generator that fills in ten fields fetches one piece
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
"""Neither in a write id nor in the filler."""
REAL_SCALE: Final = 1024.0
"""A power of two: write ids in doubles have a fraction and are still exact."""


def place_of(key: Key, write_id: str) -> int:
    """Where the filler of a record begins; `apart` says how far on those of its parts are."""
    return crc32(f"{key}\0{write_id}".encode())


def apart(length: int) -> int:
    """How far the filler of a part of this length is from that of the next one: one byte more, so that also of parts as long as the
    block no two are alike."""
    return length + 1


def pick(place: int, among: int) -> int:
    """Which of `among` things a record has, counted from 0, each as likely as any other: by the upper bits of its place, since the lower
    ones say where its filler is."""
    return place * among >> 32


def text_at(place: int, length: int) -> str:
    """Filler as text."""
    at = place & MASK
    if length <= BLOCK:
        return TEXT[at : at + length]
    whole, rest = divmod(length, BLOCK)
    return TEXT[at : at + BLOCK] * whole + TEXT[at : at + rest]


def bytes_at(place: int, length: int) -> bytes:
    """Filler as bytes: the same, in ASCII."""
    at = place & MASK
    if length <= BLOCK:
        return BYTES[at : at + length]
    whole, rest = divmod(length, BLOCK)
    return BYTES[at : at + BLOCK] * whole + BYTES[at : at + rest]


def text_of(head: str, place: int, length: int) -> str:
    """A leaf of text: the head with the write id and then filler; one that is too short for the write id derives from it."""
    room = length - len(head)
    return head + text_at(place, room) if room >= 0 else text_at(place, length)


def number_of(shape: Integer | Real, place: int) -> int | float:
    """A number over the shape's whole range (multiplicative hashing by the golden ratio, Knuth, TAOCP 6.4)."""
    bits = (place * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    if isinstance(shape, Real):
        return (bits >> 11) / REAL_SCALE
    return (bits >> (64 - shape.integer)) - (1 << (shape.integer - 1))
