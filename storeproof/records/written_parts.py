"""What one part of a record tells of the write that stored it."""

from __future__ import annotations

from typing import Any

from msgpack import packb

from storeproof.contract.values import Record
from storeproof.records.filler import SEPARATOR, bytes_at, number_of, pick, text_at, text_of
from storeproof.spec.model import Integer, Real, Text


def carried(value: Any) -> str | None:
    """The write id at the head of a part, if there is one."""
    if type(value) is bytes:
        head, separator, _ = value[:32].partition(b"|")
        text = head.decode("ascii", "replace")
    elif type(value) is str:
        text, separator_text, _ = value[:32].partition("|")
        separator = separator_text.encode()
    else:
        return None
    client, colon, sequence = text.partition(":")
    if separator and colon and text.isascii() and client.isdigit() and sequence.isdigit():
        return text
    return None


def is_same(record: Record, made: Record) -> bool:
    """Whether they are the same in their types too, which 1 and 1.0 are not. Raises what MessagePack does for what is no record."""
    if isinstance(made, bytes):
        return type(record) is bytes and record == made
    if isinstance(record, dict) and bytearray in map(type, record.values()):  # the one type that MessagePack takes for another
        return False
    return bool(packb(record, strict_types=True) == packb(made))


def drawn_size(sizes: tuple[int, ...], place: int) -> int:
    """The size in bytes of the value at this place."""
    return sizes[pick(place, len(sizes))]


def matches(value: Any, write_id: str, place: int, kind: Any) -> bool:
    """Whether a part is exactly what this write stores. `kind`: the size of a field, the sizes of a value, or the shape of a leaf."""
    if isinstance(kind, tuple):
        kind = drawn_size(kind, place)
    if isinstance(kind, int):
        head = f"{write_id}|".encode()
        made = head + bytes_at(place, kind - len(head))
        return type(value) is bytes and value == made
    if isinstance(kind, Text):
        return type(value) is str and value == text_of(write_id + SEPARATOR, place, kind.text)
    return is_number(value, kind, place)


def is_number(value: Any, shape: Integer | Real, place: int) -> bool:
    wanted = number_of(shape, place)
    # The types must match: the contract does not allow 1 for 1.0.
    return type(value) is type(wanted) and value == wanted


def begins_well(value: bytes | str, write_id: str, place: int) -> bool:
    """Whether a damaged part begins like that of this write: then it is torn or truncated, not invented."""
    rest = value[len(write_id) + 1 :]
    start = rest[:8]
    return len(start) > 0 and start == (bytes_at if isinstance(value, bytes) else text_at)(place, len(start))
