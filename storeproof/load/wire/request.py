"""A job for the wire engine: the connections, the request templates and how they are repeated. `storeproof.native.start` runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SlotKind = Literal["key", "key-le", "key-be", "key-hex", "id-le", "id-be", "write-id", "write-id-hex", "filler", "filler-hex"]
"""What is written into a slot.

* `key`: the number of a key, or its hash where `Job.key_hashed` says so, in decimal digits, padded with zeros to the slot's width.
* `key-le`, `key-be`: the same in binary, little- or big-endian.
* `id-le`, `id-be`: the number of the request on its connection, counting up from 1, modulo the width.
* `write-id`: client and request: `cccc:sssssssssss`, client + 1 and sequence, 16 bytes in all.
* `filler`: text of this width from `Job.filler`, at a place that follows from key and write id.
* `key-hex`, `write-id-hex`, `filler-hex`: the same text, half as many characters as the slot is wide, each as two hexadecimal digits in
  lower case: the key 42 in a slot of eight bytes is `30303432`.
"""
WireProtocol = Literal["resp", "memcached", "mongo", "iproto", "mysql", "postgres", "http", "embedded"]
"""How replies are read; `embedded` is what hosts of `storeproof.embedded` speak."""
Form = Literal["key", "chance", "record"]
"""What decides which of several templates a request is made of.

* `key`: its key, by `RequestTemplate.below`, ascending.
* `chance`: each is as likely as any other: requests that ask the same in other words.
* `record`: the key and the write id of what is written, by `filler.pick`: values of unlike sizes.
"""
WireKeys = Literal["new", "uniform", "oldest", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential", "none"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a request that differs from request to request."""

    offset: int
    width: int
    """Bytes."""
    kind: SlotKind
    item: int = 0
    """Which of the batch's records."""
    shift: int = 0
    """For a filler, its place: that of the record's key and write id, so much further on."""


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """One request as the client sent it, and where it differs from the next."""

    request: bytes
    slots: tuple[Slot, ...]
    below: int = 0
    """Where encodings differ with the size of a key: this one is for numbers below this, and not below the template before; 0: any."""
    id_reply: tuple[int, int, str] | None = None
    """Offset, width and order ("le" or "be") of the request's id in the frame of the reply; None where replies have none."""


@dataclass(frozen=True, slots=True)
class Op:
    name: str
    """The label of the mix."""
    weight: int
    templates: tuple[RequestTemplate, ...]
    """One for each of the forms that requests have."""
    form: Form
    keys: WireKeys
    distinct: float
    """With new keys: the share of requests that take a new one; the others take an earlier one of the same client."""
    batch: int
    """Keys a request."""
    writes: bool
    hit: tuple[int, ...]
    """Counts in a reply that mean: all is well, and `batch` records were reached. Empty: any count."""
    miss: tuple[int, ...]
    """Counts that mean: the record was not there. Any other count is malformed."""
    frames: int = 1
    """Frames of reply that answer one request: the count is that of the last one, and an error in any of them is one."""
    then: int | None = None
    """Place in `Job.ops` of what is asked about the same keys once all of them were found: the second half of an operation.

    It has no weight, and nothing follows it. The time of the operation is from the first request to the last reply, it takes one of
    the requests in flight all the while, and it counts once: its success as one of the second half, a miss or an error where it was met.
    """


@dataclass(frozen=True, slots=True)
class Patch:
    """What one connection's requests have in place of the template's own bytes: the id of its session, say."""

    op: int
    """Its place in `Job.ops`."""
    template: int
    """Its place in `Op.templates`."""
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """One round of load."""

    sockets: tuple[int, ...]
    """Duplicated descriptors, one a client, in the order of clients; the compiled part neither closes them nor changes their flags."""
    protocol: WireProtocol
    ops: tuple[Op, ...]
    filler: bytes
    """`storeproof.records.filler.BYTES`."""
    mask: int
    key_prefix: bytes
    """The prefix of the key as `filler.place_of` sees it, and `keys.key_of` makes it: `key:`, `user` or nothing."""
    key_digits: int
    """Digits of the key's number; 0: as many as it takes."""
    known: int
    """Loaded records have the keys 0 to known - 1."""
    positions: tuple[int, ...]
    """New keys that each client took before; new key p of client c is known + p * clients + c. All clients are counted, also those that
    are not of this job."""
    removed: tuple[int, ...]
    """New keys that each client removed before, the oldest first."""
    indeterminate: frozenset[int]
    """Numbers of keys whose write was not acknowledged: they may be there or not, and are never removed."""
    sequence: int
    """The sequence number of each client's first request in this job, in its write id."""
    seed: int
    start_ns: int
    """When all begin, of CLOCK_MONOTONIC."""
    seconds: float
    patience: float
    """Seconds after the deadline for which the last replies are waited for."""
    pipeline: int = 1
    """Requests in flight on a connection."""
    rate: float = 0.0
    """Open loop: requests a second over all clients; 0: closed loop."""
    poisson: bool = True
    """Open loop: whether gaps are exponential, and not even."""
    threads: int = 1
    """Client c is of thread c modulo their number. There are no more than clients."""
    limit: int = 0
    """Requests in all; 0: no limit."""
    log: bool = False
    """Whether acknowledgements are kept."""
    theta: float = 0.99
    """Zipf's constant."""
    key_hashed: bool = False
    """Whether keys show the hash of their number (`distributions.fnv`) in place of the number."""
    clients: tuple[int, ...] = ()
    """The number of each socket's client, of all that `positions` counts; empty: 0, 1, 2 and so on."""
    patches: tuple[tuple[Patch, ...], ...] = ()
    """For each client, in the order of `sockets`, its own bytes, written before the slots are; empty: no client has any."""
