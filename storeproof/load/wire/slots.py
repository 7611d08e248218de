"""Finds the parts of a request that differ from the next one: the key, the write id and the filler, whose values are known.

The rest is the template. It counts as learned only when, filled in for another key and write id, it equals byte for byte what the client
itself then sends: see `fill_template`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from storeproof.errors import StoreproofError
from storeproof.load.wire.request import RequestTemplate, Slot, SlotKind
from storeproof.load.wire.request_ids import NormalizedRequest
from storeproof.records.filler import SEPARATOR, bytes_at, place_of
from storeproof.records.keys import ORDERED, KeyForm

WRITE_ID_BYTES: Final = 16
_WIDTHS: Final = (8, 4, 2, 1)
_TELLING: Final = 8
"""Characters of base64 that are no coincidence."""
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_GAP: Final = 8
"""Bytes that are alike between two that differ, and still belong to one thing: an id of random bytes has some in common with another."""


class NotTemplated(StoreproofError):
    """Requests cannot be made without the client; the message says why. The driver engine measures it."""


@dataclass(frozen=True)
class About:
    """What a request was about."""

    numbers: tuple[int, ...]
    """The numbers of the keys."""
    write_id: str = ""
    """The write id of the record that it writes."""
    texts: tuple[tuple[tuple[int, str], ...], ...] = ()
    """For each key what the record has in letters, with its shift."""
    form: KeyForm = ORDERED
    """How the keys are written."""

    def place(self, item: int) -> int:
        """The place of the filler of one record."""
        return place_of(self.form.key(self.numbers[item]), self.write_id)


def fixed_write_id(client: int, sequence: int) -> str:
    """A write id of fixed width, `cccc:sssssssssss`."""
    return f"{client:04d}:{sequence:011d}"


def template(request: NormalizedRequest, about: About) -> RequestTemplate:
    """A request about text keys with slots for all that is found of what it is about.
    Raises `NotTemplated`: the key or a value is there as base64, as gateways to JSON have it."""
    slots: dict[int, Slot] = {}
    for item, number in enumerate(about.numbers):
        key = f"{about.form.shown(number):0{about.form.digits}d}"
        texts = about.texts[item] if about.texts else ()
        for what, text in (("key", key), *(("value", text) for _, text in texts)):
            if _is_base64_in(request.data, text.encode()):
                raise NotTemplated(f"the request carries the {what} as base64, and the wire engine cannot write another one in its place")
        for offset, width, kind in _places(request.data, key, "key"):
            slots[offset] = Slot(offset, width, kind, item)
        for shift, text in texts:
            for slot in _text_slots(request.data, text, about.write_id, item, shift):
                slots.setdefault(slot.offset, slot)
    return blank_slots(request, slots.values())


def number_template(one: NormalizedRequest, first: int, other: NormalizedRequest, second: int) -> RequestTemplate:
    """A request about an integer key, found by what differs in a request about another one, whose encoding is as long.
    Raises `NotTemplated`: what differs is not the key."""
    if len(one.data) != len(other.data):
        raise NotTemplated(f"requests for the keys {first} and {second} are {len(one.data)} and {len(other.data)} bytes long")
    slots: list[Slot] = []
    for begin, end in differing_ranges(one.data, other.data):
        if slots and end <= slots[-1].offset + slots[-1].width:
            continue  # a further byte of the number that was found
        slots.append(_number_slot(one.data, first, other.data, second, begin))
    return blank_slots(one, slots)


def blank_slots(request: NormalizedRequest, slots: Iterable[Slot]) -> RequestTemplate:
    """The request with nothing in its slots, so that templates of the same kind are equal."""
    ordered = tuple(sorted((*request.slots, *slots), key=lambda slot: slot.offset))
    data = bytearray(request.data)
    for slot in ordered:
        data[slot.offset : slot.offset + slot.width] = bytes(slot.width)
    return RequestTemplate(bytes(data), ordered)


def fill_template(made: RequestTemplate, about: About) -> bytes:
    """What the template is for these keys and this write id; ids are left blank, as `normal` leaves them."""
    data = bytearray(made.request)
    for slot in made.slots:
        if not slot.kind.startswith("id"):
            data[slot.offset : slot.offset + slot.width] = _content(slot, about)
    return bytes(data)


def differing_ranges(one: bytes, other: bytes, gap: int = 0) -> list[tuple[int, int]]:
    """Where two requests of one length differ, as ranges; those with at most `gap` bytes between them are one."""
    ranges: list[tuple[int, int]] = []
    if one == other:
        return ranges
    for at, (left, right) in enumerate(zip(one, other, strict=True)):
        if left != right:
            if ranges and at - ranges[-1][1] <= gap:
                ranges[-1] = (ranges[-1][0], at + 1)
            else:
                ranges.append((at, at + 1))
    return ranges


def own_bytes(made: RequestTemplate, about: About, request: NormalizedRequest) -> list[tuple[int, bytes, bytes]]:
    """What a connection's request has in place of the template's own bytes: offsets, the template's, and the connection's.
    Raises `NotTemplated`: it is of another length, or the difference is within a slot."""
    expected = fill_template(made, about)
    if len(expected) != len(request.data):
        raise NotTemplated(f"requests of two connections are {len(expected)} and {len(request.data)} bytes long")
    found = differing_ranges(expected, request.data, _GAP)
    for begin, end in found:
        if any(slot.offset < end and begin < slot.offset + slot.width for slot in made.slots):
            raise NotTemplated("requests of two connections differ where the key, the write id or the filler is")
    return [(begin, expected[begin:end], request.data[begin:end]) for begin, end in found]


def describe_difference(expected: bytes, found: bytes) -> str:
    """In words, where what a client sent is not what the template is."""
    if len(expected) != len(found):
        return f"it is {len(found)} bytes long, and the template {len(expected)}"
    begin, end = differing_ranges(expected, found)[0]
    near = slice(max(begin - 12, 0), end + 12)
    return f"at byte {begin} it has {found[near]!r}, and the template {expected[near]!r}"


def _content(slot: Slot, about: About) -> bytes:
    number = about.form.shown(about.numbers[slot.item])
    match slot.kind:
        case "key":
            return f"{number:0{slot.width}d}".encode()
        case "key-hex":
            return f"{number:0{slot.width // 2}d}".encode().hex().encode()
        case "key-be" | "key-le":
            return number.to_bytes(slot.width, "big" if slot.kind == "key-be" else "little")
        case "write-id":
            return about.write_id.encode()
        case "write-id-hex":
            return about.write_id.encode().hex().encode()
        case "filler":
            return bytes_at(about.place(slot.item) + slot.shift, slot.width)
        case "filler-hex":
            return bytes_at(about.place(slot.item) + slot.shift, slot.width // 2).hex().encode()
    raise AssertionError(slot.kind)


_HEX: Final[dict[SlotKind, SlotKind]] = {"key": "key-hex", "write-id": "write-id-hex", "filler": "filler-hex"}


def _places(data: bytes, text: str, kind: SlotKind) -> Iterator[tuple[int, int, SlotKind]]:
    """Where a text is, as it is or in hexadecimal digits."""
    plain = text.encode()
    for wanted, as_kind in ((plain, kind), (plain.hex().encode(), _HEX[kind])):
        at = data.find(wanted)
        while at >= 0:
            yield at, len(wanted), as_kind
            at = data.find(wanted, at + len(wanted))


def _is_base64_in(data: bytes, text: bytes) -> bool:
    """Whether a text is there in base64, of either alphabet, and wherever it stands in what was encoded as a whole."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + text)
        # Characters that belong to the text alone: six bits each.
        own = encoded[-(-before * 8 // 6) : (before + len(text)) * 8 // 6]
        if len(own) >= _TELLING and (own in data or own.translate(_URL_SAFE) in data):
            return True
    return False


def _text_slots(data: bytes, text: str, write_id: str, item: int, shift: int) -> Iterator[Slot]:
    """The slots of one text of a record: filler, and before it the write id where there is room for it."""
    head = len(write_id) + len(SEPARATOR) if text.startswith(write_id + SEPARATOR) else 0
    for offset, width, kind in _places(data, text, "filler"):
        unit = 2 if kind == "filler-hex" else 1
        if head:
            yield Slot(offset, WRITE_ID_BYTES * unit, "write-id-hex" if unit == 2 else "write-id", item)
        if width > head * unit:
            yield Slot(offset + head * unit, width - head * unit, kind, item, shift)


def _number_slot(one: bytes, first: int, other: bytes, second: int, at: int) -> Slot:
    """The slot of an integer key in which a byte differs: decimal digits, or the widest binary form that is right for both."""
    digits = len(str(first))
    if len(str(second)) == digits:
        for offset in range(max(at - digits + 1, 0), at + 1):
            if one[offset : offset + digits] == str(first).encode() and other[offset : offset + digits] == str(second).encode():
                return Slot(offset, digits, "key")
    for width in _WIDTHS:
        if max(first, second) >> (8 * width):
            continue
        for order, kind in (("big", "key-be"), ("little", "key-le")):
            for offset in range(max(at - width + 1, 0), at + 1):
                forms = (first.to_bytes(width, order), second.to_bytes(width, order))  # type: ignore[arg-type]
                if (one[offset : offset + width], other[offset : offset + width]) == forms:
                    return Slot(offset, width, kind)  # type: ignore[arg-type]
    near = slice(max(at - 12, 0), at + 12)
    raise NotTemplated(f"the keys {first} and {second} are not recognised in {one[near]!r} and {other[near]!r}")
