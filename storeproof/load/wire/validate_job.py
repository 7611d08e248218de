"""Why a job cannot be carried out: the compiled pump refuses the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Final, get_args

from storeproof.load.wire.framing import FRAMERS
from storeproof.load.wire.framing.frame import SHOWN
from storeproof.load.wire.request import Form, Job, Op, Slot, SlotKind, Template, WireKeys
from storeproof.records.self_verifying import MAX_CLIENT

_LONGEST: Final = 1e6
"""Seconds."""
_MOST_IN_FLIGHT: Final = 1024
_MOST_THREADS: Final = 64
_DRAWN_OF_NOTHING: Final = ("new", "oldest", "none")
_WIDTH: Final = 8
"""Bytes of the widest number."""
_STAMP: Final = 16
_EVEN: Final = 2
"""A text in hexadecimal has two digits for each of its bytes."""


def flaw(job: Job) -> str | None:
    """What is wrong with a job; None where nothing is."""
    return next(_of_job(job), None) or next((f"{op.name}: {wrong}" for op in job.ops for wrong in _of_op(job, op)), None)


def _of_job(job: Job) -> Iterator[str]:
    clients = len(job.sockets)
    if not 1 <= clients < MAX_CLIENT:
        yield f"from 1 to {MAX_CLIENT - 1} clients, found {clients}"
    if job.protocol not in FRAMERS:
        yield f"no such protocol: {job.protocol}"
    if any(len(each) not in (0, clients) for each in (job.positions, job.removed)):
        yield "new keys are counted for each client"
    if len(job.patches) not in (0, clients):
        yield "patches are for each client, or for none"
    if not all(0 <= seconds <= _LONGEST for seconds in (job.seconds, job.patience)):  # also where one is not a number
        yield "seconds and patience are at most a million"
    if not 1 <= job.pipeline <= _MOST_IN_FLIGHT:
        yield f"from 1 to {_MOST_IN_FLIGHT} requests in flight, found {job.pipeline}"
    if not (isfinite(job.rate) and job.rate >= 0):
        yield f"no rate: {job.rate}"
    if not 1 <= job.threads <= _MOST_THREADS:
        yield f"from 1 to {_MOST_THREADS} threads, found {job.threads}"
    if len(job.filler) != 2 * (job.mask + 1):
        yield "the filler is its block twice"
    if not any(op.weight for op in job.ops):
        yield "no operation has any weight"


def _of_op(job: Job, op: Op) -> Iterator[str]:
    if op.keys not in get_args(WireKeys):
        yield f"keys cannot be `{op.keys}`"
    if not job.known and op.keys not in _DRAWN_OF_NOTHING:
        yield "its keys are drawn from loaded records, and none were loaded"
    if op.form not in get_args(Form) or (op.form == "record" and op.batch != 1):
        yield f"of a batch of {op.batch}, templates cannot be chosen by `{op.form}`"
    if op.batch < 1 or op.frames < 1 or op.weight < 0 or not op.templates:
        yield "it has a batch, a reply and a template at least"
    if op.batch > 1 and any(each.below for each in op.templates):
        yield "keys of a batch have one width"
    if op.then is not None and not _follows(job, op, op.then):
        yield "what follows it has the same keys, no weight, and nothing that follows"
    for each in op.templates:
        yield from _of_template(each, op.batch)


def _follows(job: Job, op: Op, then: int) -> bool:
    """Whether an operation can be the second half of this one."""
    if not 0 <= then < len(job.ops):
        return False
    next_op = job.ops[then]
    return not next_op.weight and next_op.then is None and (next_op.batch, next_op.keys) == (op.batch, op.keys)


def _of_template(template: Template, batch: int) -> Iterator[str]:
    if not template.request:
        yield "a request of no bytes"
    if template.id_reply:
        offset, width, order = template.id_reply
        if not 1 <= width <= _WIDTH or offset < 0 or offset + width > SHOWN or order not in ("le", "be"):
            yield f"the id of a reply cannot be {width} bytes at {offset}, {order}"
    at = 0
    for slot in sorted(template.slots, key=lambda slot: slot.offset):
        if slot.kind not in get_args(SlotKind):
            yield f"no such slot: {slot.kind}"
        if slot.offset < at or slot.offset + slot.width > len(template.request) or not _fits(slot) or not 0 <= slot.item < batch:
            yield f"a slot of {slot.width} bytes at {slot.offset} does not fit"
        at = slot.offset + slot.width


def _fits(slot: Slot) -> bool:
    """Whether a slot is as wide as what is written into it."""
    kind, _, form = slot.kind.partition("-")
    if form == "hex":
        return slot.width % _EVEN == 0 and (kind != "stamp" or slot.width == _EVEN * _STAMP)
    if form:
        return 1 <= slot.width <= _WIDTH
    return slot.width == _STAMP if kind == "stamp" else slot.width >= 1
