"""The reference load: clients that get values of 100 bytes from a server that does nothing. Its rate is the machine's alone.

How much two measurements of it differ (A/A test) is the machine's noise floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from socket import socket
from time import monotonic_ns
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.load.wire.null_server import CannedReply, NullServer
from storeproof.load.wire.request import Job, Op, RequestTemplate, Slot
from storeproof.records import filler
from storeproof.stats.ratio import Ratio, ratio_of

_REQUEST: Final = b"*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000000\r\n"
_KEY: Final = Slot(_REQUEST.index(b"0" * 12), 12, "key")
_GET: Final = Op(
    name="get",
    weight=1,
    templates=(RequestTemplate(_REQUEST, (_KEY,)),),
    form="key",
    keys="uniform",
    distinct=1.0,
    batch=1,
    writes=False,
    hit=(1,),
    miss=(0,),
)
ANSWERS: Final = CannedReply(len(_REQUEST), b"$100\r\n" + b"x" * 100 + b"\r\n")
"""What the server is to answer."""


def reference_rate(sockets: Sequence[socket], seconds: float, seed: int) -> float:
    """Requests per second over these connections, each with one in flight; 0 or less if there was no answer.

    Args:
        sockets: connections to a null server with `ANSWERS`.
        seed: of the order of keys.
    """
    from storeproof import native  # only here: it is optional, and a null server is there only with it

    job = Job(
        sockets=tuple(each.fileno() for each in sockets),
        protocol="resp",
        ops=(_GET,),
        filler=filler.BYTES,
        mask=filler.MASK,
        key_prefix=b"key:",
        key_digits=12,
        known=1000,
        positions=(),
        removed=(),
        indeterminate=frozenset(),
        sequence=0,
        seed=seed,
        start_ns=monotonic_ns(),
        seconds=seconds,
        patience=2.0,
    )
    return float(native.start(job).join().request_rate)


ROUNDS: Final = 5
"""Rounds of each of the two."""
CLIENTS: Final = 50
_LONGEST: Final = 0.25
"""Seconds of a round."""


def noise_floor(server: NullServer, round_seconds: float) -> Ratio:
    """The ratio of A to A, two times the same load on a server that does nothing, in rounds that take turns; with its 95 % interval.

    Args:
        round_seconds: of a round of the run; these are shorter, and all of them together take four times as long, 2.5 s at most.

    Raises:
        NotAvailable: nothing is compiled here, or the machine is so busy that a round had no answer.
        OSError: connections cannot be made.
    """
    rates: tuple[list[float], list[float]] = ([], [])
    with server.connections(ANSWERS, CLIENTS) as sockets:
        for number in range(2 * ROUNDS):
            # A B, B A, A B and so on: what grows with time grows for both.
            rates[(number + 1) // 2 % 2].append(reference_rate(sockets, min(_LONGEST, 0.4 * round_seconds), number))
    if min(map(min, rates)) <= 0:
        raise NotAvailable("a server that does nothing gave no answer in a whole round: the machine is busy")
    return ratio_of(*rates)
