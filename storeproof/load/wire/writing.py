"""From a template to a function that writes its requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from zlib import crc32

from storeproof.load.wire.request import Job, Op, Patch, Slot, Template
from storeproof.records.distributions import fnv

_ENDLESS: Final = 10**11
"""Numbers of keys that no run comes to."""
Write = Callable[[Any, int, bytes], bytes]
"""(number of the key, or numbers of a batch; number of the request on its connection; stamp) -> the request."""
Place = Callable[[int, bytes], int]
"""(number of the key, stamp) -> where the filler of the record begins."""


class Writer:
    """The requests of one template for one client."""

    def __init__(self, job: Job, op: Op, template: Template, patches: Sequence[Patch] = ()) -> None:
        """`patches`: of this template, for this client.

        Raises:
            ValueError: slots lie over each other, or beyond the request.
        """
        request = bytearray(template.request)
        for patch in patches:
            request[patch.offset : patch.offset + len(patch.data)] = patch.data
        slots = sorted(template.slots, key=lambda slot: slot.offset)
        self.below = min((_room(slot) for slot in slots if slot.kind.startswith("key")), default=_ENDLESS)
        """It is for the numbers of keys below this; 0: any."""
        if template.below or self.below >= _ENDLESS:
            self.below = template.below
        self.id_reply = template.id_reply
        self.write = _compiled(job, op.batch, bytes(request), slots)


def places(job: Job) -> Place:
    """The place of each record, `filler.place_of`."""
    form, hashed = _place_form(job), job.key_hashed
    return lambda number, stamp: crc32(form % (fnv(number) if hashed else number, stamp))


def _compiled(job: Job, batch: int, request: bytes, slots: Sequence[Slot]) -> Write:
    """One expression for all slots: a loop over them would take longer than to send what they make."""
    form, at = b"", 0
    values = []
    known: set[str] = set()
    for slot in slots:
        if slot.offset < at or slot.offset + slot.width > len(request):
            raise ValueError(f"a template of {len(request)} bytes has a slot at {slot.offset} that does not fit")
        form += request[at : slot.offset].replace(b"%", b"%%") + _form(slot)
        at = slot.offset + slot.width
        values.append(_value(job, slot, "number" if batch == 1 else f"number[{slot.item}]", known))
    if not values:
        return lambda _number, _request_id, _stamp: request
    form += request[at:].replace(b"%", b"%%")
    source = f"lambda number, request_id, stamp: form % ({', '.join(values)},)"
    names = {"form": form, "filler": job.filler, "long": _long_filler(job), "crc32": crc32, "place_form": _place_form(job), "fnv": fnv}
    write: Write = eval(source, names)  # noqa: S307 - of nothing but the names above and integers of slots
    return write


def _room(slot: Slot) -> int:
    """Numbers that fit into the slot of a key are below this."""
    return int({"key": 10**slot.width, "key-hex": 10 ** (slot.width // 2)}.get(slot.kind, 1 << 8 * slot.width))


def _form(slot: Slot) -> bytes:
    return b"%%0%dd" % slot.width if slot.kind == "key" else b"%b"


def _once(name: str, expression: str, known: set[str]) -> str:
    """The name of what an expression before gave, or the expression that gives it the name."""
    if name in known:
        return name
    known.add(name)
    return f"({name} := {expression})"


def _value(job: Job, slot: Slot, number: str, known: set[str]) -> str:
    """An expression for what is written into a slot; `known` are the names that those before it gave."""
    kind, _, form = slot.kind.partition("-")
    order = {"le": "little", "be": "big"}.get(form)
    width = slot.width // 2 if form == "hex" else slot.width
    if order:
        whole = f"(request_id % {1 << 8 * width})" if kind == "id" else number
        return f"{whole}.to_bytes({width}, {order!r})"
    if kind == "stamp":
        text = "stamp"
    else:
        shown = _once(f"key{slot.item}", f"fnv({number})", known) if job.key_hashed else number
        if kind == "key":
            return shown if not form else f"(b'%0{width}d' % {shown}).hex().encode()"
        place = _once(f"place{slot.item}", f"crc32(place_form % ({shown}, stamp))", known)
        shifted = f"{place} + {slot.shift}"
        text = f"filler[(at := ({shifted}) & {job.mask}):at + {width}]" if width <= job.mask + 1 else f"long({shifted}, {width})"
    return f"{text}.hex().encode()" if form else text


def _place_form(job: Job) -> bytes:
    """What `filler.place_of` hashes: the key as it is written, a null byte, the stamp."""
    return job.key_prefix.replace(b"%", b"%%") + (b"%%0%dd" % job.key_digits if job.key_digits else b"%d") + b"\0%b"


def _long_filler(job: Job) -> Callable[[int, int], bytes]:
    """As `filler.bytes_at`: what is longer than the block goes round in it."""

    def long(place: int, width: int) -> bytes:
        at = place & job.mask
        whole, rest = divmod(width, job.mask + 1)
        return job.filler[at : at + job.mask + 1] * whole + job.filler[at : at + rest]

    return long
