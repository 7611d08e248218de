"""The reference load: clients that get values of 100 bytes from a server that does nothing. Its rate is the machine's alone."""

from __future__ import annotations

from collections.abc import Sequence
from socket import socket
from time import monotonic_ns
from typing import Final

from storeproof.load.wire.null_server import CannedReply
from storeproof.load.wire.request import Job, Op, RequestTemplate, Slot
from storeproof.records import filler

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
