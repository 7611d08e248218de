"""What a pump is told, and what it tells back. There are two pumps, `native` and `storeproof.load.wire.pump`; both read this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

SlotKind = Literal["key", "key-le", "key-be", "key-hex", "id-le", "id-be", "stamp", "stamp-hex", "filler", "filler-hex"]
"""What is written into a slot.

* `key`: the number of a key, or its hash where `Job.key_hashed` says so, in decimal digits, padded with zeros to the slot's width.
* `key-le`, `key-be`: the same in binary, little- or big-endian.
* `id-le`, `id-be`: the number of the request on its connection, counting up from 1, modulo the width.
* `stamp`: who writes, and its which request this is: `cccc:sssssssssss`, client + 1 and sequence, 16 bytes in all.
* `filler`: text of this width from `Job.filler`, at a place that follows from key and stamp.
* `key-hex`, `stamp-hex`, `filler-hex`: the same text, half as many characters as the slot is wide, each as two hexadecimal digits in lower
  case: the key 42 in a slot of eight bytes is `30303432`.
"""
WireProtocol = Literal["resp", "memcached", "mongo", "iproto", "mysql", "postgres", "http", "embedded"]
"""How replies are told apart; `embedded` is what hosts of `storeproof.embedded` speak."""
Form = Literal["key", "chance", "record"]
"""What decides which of several templates a request is made of.

* `key`: its key, by `Template.below`, ascending.
* `chance`: each is as likely as any other: requests that ask the same in other words.
* `record`: the key and the stamp of what is written, by `filler.pick`: values of unlike sizes.
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
    """Of a filler: its place is that of the record's key and stamp, so much further on."""


@dataclass(frozen=True, slots=True)
class Template:
    """One request as the client sent it, and where it differs from the next."""

    request: bytes
    slots: tuple[Slot, ...]
    below: int = 0
    """Where encodings differ with the size of a key: this one is for numbers below this, and not below the template before; 0: any."""
    id_reply: tuple[int, int, str] | None = None
    """Offset, width and order ("le" or "be") of the request's id in the frame of the reply; None where replies bear none."""


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a mix."""

    name: str
    """The label of the mix."""
    weight: int
    templates: tuple[Template, ...]
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
    """Duplicated descriptors, one a client, in the order of clients; the pump neither closes them nor changes their flags."""
    protocol: WireProtocol
    ops: tuple[Op, ...]
    filler: bytes
    """`storeproof.records.filler.BYTES`."""
    mask: int
    key_prefix: bytes
    """Of the key as `filler.place_of` sees it, and `keys.key_of` makes it: `key:`, `user` or nothing."""
    key_digits: int
    """Of the same; 0: as many as it takes."""
    known: int
    """Loaded records have the keys 0 to known - 1."""
    positions: tuple[int, ...]
    """New keys that each client took before; new key p of client c is known + p * clients + c."""
    removed: tuple[int, ...]
    """New keys that each client removed before, the oldest first."""
    unsure: frozenset[int]
    """Numbers of keys of which nobody knows whether they are there: never removed."""
    sequence: int
    """Of each client's first request in this job, in its stamp."""
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
    limit: int = 0
    """Requests in all; 0: no limit."""
    log: bool = False
    """Whether acknowledgements are kept."""
    theta: float = 0.99
    """Zipf's constant."""
    key_hashed: bool = False
    """Whether keys show the hash of their number (`distributions.fnv`) in place of the number."""
    patches: tuple[tuple[Patch, ...], ...] = ()
    """For each client, in the order of `sockets`, its own bytes, written before the slots are; empty: no client has any."""


class Tally(Protocol):
    """What became of one operation."""

    @property
    def ok(self) -> int:
        """Records of successful requests."""

    @property
    def misses(self) -> int:
        """Records that were not there."""

    @property
    def errors(self) -> int:
        """Requests that were refused, or whose reply was lost."""

    @property
    def malformed(self) -> int:
        """Replies that were no answer to what was asked."""

    @property
    def requests(self) -> int:
        """Requests answered successfully: those whose times are kept."""

    @property
    def busy_ns(self) -> int:
        """Their times in all."""

    @property
    def service(self) -> str:
        """Histogram of nanoseconds from the sending to the reply, as `storeproof.stats.latency.decode` reads it."""

    @property
    def response(self) -> str:
        """The same from the intended time; empty in a closed loop."""


class Measured(Protocol):
    """What one job found."""

    @property
    def ops(self) -> Sequence[Tally]:
        """In the order of `Job.ops`."""

    @property
    def throughput(self) -> float:
        """Records per second: the sum over the clients of their own records in their own time."""

    @property
    def request_rate(self) -> float:
        """Requests per second, whatever became of them."""

    @property
    def busy_seconds(self) -> float:
        """In which requests were under way, summed over all requests."""

    @property
    def pause_seconds(self) -> float:
        """Between a reply and the next request of its connection, summed over all requests."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the pump's threads."""

    @property
    def elapsed_seconds(self) -> float:
        """From the start to the last reply."""

    @property
    def threads(self) -> int:
        """That the pump used."""

    @property
    def positions(self) -> list[int]:
        """New keys taken by each client, this job included."""

    @property
    def removed(self) -> list[int]:
        """New keys removed by each client, this job included."""

    @property
    def doubtful(self) -> list[int]:
        """Numbers of keys whose write was not acknowledged."""

    @property
    def samples(self) -> list[str]:
        """The first three errors, in words."""

    @property
    def broken(self) -> list[int]:
        """Clients whose connection is not to be used again."""

    @property
    def silent(self) -> list[int]:
        """Clients that got no reply within the patience."""

    @property
    def seconds(self) -> list[tuple[int, int, int]]:
        """For each second since the start: records, errors, and the longest request in microseconds."""

    @property
    def lag(self) -> str:
        """Open loop: histogram of nanoseconds from the intended time, or when a client was free, to the sending; empty in a closed loop."""

    @property
    def unissued(self) -> int:
        """Open loop: requests that were due before the deadline and never sent."""

    @property
    def bytes_sent(self) -> int:
        """In all requests."""

    @property
    def bytes_received(self) -> int:
        """In all replies."""

    @property
    def log(self) -> bytes:
        """Acknowledged writes, 28 bytes each, little-endian: u32 client, u64 key, u64 sent and u64 acknowledged, in nanoseconds."""


class Run(Protocol):
    """A job that is under way."""

    @property
    def done(self) -> bool:
        """Whether all clients have ended."""

    @property
    def errors(self) -> int:
        """Errors so far."""

    def stop(self) -> None:
        """End before the deadline."""

    def join(self) -> Measured:
        """Wait for the end, at most the job's patience beyond the deadline."""


class Pump(Protocol):
    """Carries jobs out."""

    def start(self, job: Job) -> Run:
        """Begin."""
