"""The client's ceiling: the rate of the load generator against a server that does nothing. Near it the client is the bottleneck.

Each request of a mix is asked by itself, with the requests of the plan and a reply that the store gave, since the null server knows
requests by their length alone. An operation of the mix takes the weighted mean of their times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from socket import socket
from time import monotonic_ns
from typing import TYPE_CHECKING, Final

from storeproof.errors import NotAvailable
from storeproof.load.engine import Engine, LoadFailed, Plan
from storeproof.load.wire.null_server import CannedReply, NullServer
from storeproof.load.wire.request import Job, Op, RequestTemplate, WireKeys, WireProtocol
from storeproof.load.wire.wire_engine import WireEngine, allow_descriptors

if TYPE_CHECKING:
    from storeproof import native

_SECONDS: Final = 0.25
"""At most, and half as long as a round."""
_ALL_SECONDS: Final = 0.4
"""For the operations of one mix."""
_AHEAD_NS: Final = 2_000_000
"""From the order to the start."""
_PATIENCE: Final = 2.0


@dataclass(frozen=True)
class Ceiling:
    rate: float | None
    """Requests per second; None where it was not measured."""
    reason: str = ""
    """Why it was not."""


class Ceilings:
    """The ceilings of one run: what was measured once is not measured again."""

    def __init__(self) -> None:
        self._servers: list[NullServer] = []
        self._rates: dict[tuple[object, ...], float] = {}

    @property
    def server(self) -> NullServer:
        """A null server, which is started when it is first needed. Raises `NotAvailable`."""
        return self._first(1)[0]

    def of(self, engine: Engine, plan: Plan) -> Ceiling:
        """The ceiling of an engine with a plan it is prepared for. The store is not asked."""
        if not isinstance(engine, WireEngine):
            return Ceiling(None, "the store's client makes the requests, and a null server does not speak with it")
        job = engine.job(plan)
        try:
            return Ceiling(self.rate(job, [each.sample for each in engine.learned]))
        except (NotAvailable, LoadFailed, OSError) as reason:
            return Ceiling(None, str(reason))

    def rate(self, job: Job, samples: Sequence[bytes]) -> float:
        """Requests per second that the wire engine reaches with a job, in a closed loop. An operation of two requests counts as one.

        Args:
            samples: for each operation a reply to it.

        Raises:
            NotAvailable: it cannot be measured.
            LoadFailed: it was measured, and something was wrong with the replies.
            OSError: connections cannot be made.
        """
        asked = [
            (op.weight, each) for place, op in enumerate(job.ops) for each in (place, op.then) if op.weight and each is not None
        ]  # the second request of an operation is asked as often as the first
        seconds = min(_SECONDS, _ALL_SECONDS / len(asked), job.seconds / 2)
        took = 0.0
        for weight, place in asked:
            one = single_operation(job, place, seconds)
            took += weight / self._measured(one, canned_reply(job.protocol, one.ops[0].templates[0], samples[place]))
        return sum(op.weight for op in job.ops) / took

    def close(self) -> None:
        """End the null servers. Never raises; may be called twice."""
        while self._servers:
            self._servers.pop().close()

    def _measured(self, job: Job, answers: CannedReply) -> float:
        (op,) = job.ops
        threads = min(job.threads, len(job.sockets))
        asks = (answers.request, len(op.templates[0].slots), op.keys, op.batch, job.pipeline, len(job.sockets), threads)
        key = (job.protocol, *asks, len(answers.reply), answers.places, op.frames)
        if key not in self._rates:
            allow_descriptors(2 * len(job.sockets))
            with self._connections(answers, len(job.sockets), threads) as sockets:
                from storeproof import native  # only here: it is optional, and a null server is there only with it

                descriptors = tuple(each.fileno() for each in sockets)
                found = native.start(replace(job, sockets=descriptors, start_ns=monotonic_ns() + _AHEAD_NS)).join()
            self._rates[key] = _checked_rate(found)
        return self._rates[key]

    @contextmanager
    def _connections(self, answers: CannedReply, clients: int, threads: int) -> Iterator[list[socket]]:
        """In the order of clients. Each thread has a null server to itself: one for all, which is one thread, would be the limit."""
        with ExitStack() as stack:
            shares = [
                stack.enter_context(server.connections(answers, len(range(thread, clients, threads))))
                for thread, server in enumerate(self._first(threads))
            ]
            yield [shares[client % threads][client // threads] for client in range(clients)]

    def _first(self, number: int) -> list[NullServer]:
        while len(self._servers) < number:
            self._servers.append(NullServer())
        return self._servers[:number]


def single_operation(job: Job, place: int, seconds: float) -> Job:
    """The job with one operation of its mix, asked in one form, without end."""
    op = job.ops[place]
    form = _typical_form(op)
    # What nothing puts there could not be removed: it is asked about new keys.
    keys: WireKeys = "new" if op.keys == "oldest" else op.keys
    only = replace(op, weight=1, templates=(op.templates[form],), form="key", keys=keys, then=None)
    mine = tuple(
        tuple(replace(each, op=0, template=0) for each in patches if (each.op, each.template) == (place, form)) for patches in job.patches
    )
    return replace(job, ops=(only,), patches=mine, seconds=seconds, patience=_PATIENCE, rate=0.0, limit=0)


def _typical_form(op: Op) -> int:
    """The form of its requests that stands for all: of those that ask for something else in each, the one of middle length; of those that
    differ with the size of a key the one for the largest, since nine of ten keys have as many digits as that."""
    if op.form == "key":
        return len(op.templates) - 1
    return sorted(range(len(op.templates)), key=lambda form: len(op.templates[form].request))[len(op.templates) // 2]


def canned_reply(protocol: WireProtocol, asked: RequestTemplate, reply: bytes) -> CannedReply:
    """What a null server must know to answer such requests with this reply. Raises `NotAvailable`: it could not tell where ids go."""
    if asked.id_reply is None:
        return CannedReply(len(asked.request), reply)
    from storeproof import native  # only here: it is optional

    offset, wide, order = asked.id_reply
    ids = [slot for slot in asked.slots if slot.kind == f"id-{order}"]
    if len(ids) != 1:
        raise NotAvailable(f"a null server cannot answer requests with {len(ids)} ids")
    width = min(ids[0].width, wide)
    high = (ids[0].width - width, wide - width) if order == "be" else (0, 0)
    blank, places, begin = bytearray(reply), [], 0
    for _count, _error, length in native.replies(protocol, reply, len(reply))[0]:
        blank[begin + offset : begin + offset + wide] = bytes(wide)
        places.append(begin + offset + high[1])
        begin += length
    return CannedReply(len(asked.request), bytes(blank), ids[0].offset + high[0], width, tuple(places))


def _checked_rate(found: native.Measured) -> float:
    """The rate, if every reply was what it should be. Raises `LoadFailed`: one was not."""
    wrong = sum(each.errors + each.malformed + each.misses for each in found.ops)
    if wrong or found.silent or not found.request_rate:
        raise LoadFailed(f"a null server's replies were not understood: {'; '.join(found.samples) or 'none came'}")
    return found.request_rate
