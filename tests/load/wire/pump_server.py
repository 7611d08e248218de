"""A server in a thread for the tests of the wire engine, and the jobs that are sent to it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from time import monotonic_ns
from typing import Any

from storeproof.load.wire.request import Job, Op, RequestTemplate, Slot
from storeproof.records import filler

Handler = Callable[[socket.socket, int], None]
"""(connection, its number): serves it until it returns, which closes it."""

GET = b"*2\r\n$3\r\nGET\r\n$16\r\nkey:############\r\n"
SET = b"*3\r\n$3\r\nSET\r\n$16\r\nkey:############\r\n$40\r\nSSSSSSSSSSSSSSSS|FFFFFFFFFFFFFFFFFFFFFFF\r\n"


def template(request: bytes, **more: Any) -> RequestTemplate:
    """With slots where a request has `############`, `SSSSSSSSSSSSSSSS` and `FFFFFFFFFFFFFFFFFFFFFFF`."""
    kinds = (("key", b"#" * 12), ("write-id", b"S" * 16), ("filler", b"F" * 23))
    return RequestTemplate(request, tuple(Slot(request.index(text), len(text), kind) for kind, text in kinds if text in request), **more)


def op(request: bytes = GET, keys: Any = "uniform", **more: Any) -> Op:
    """One operation."""
    given: dict[str, Any] = {"name": "op", "weight": 1, "form": "key", "distinct": 1.0, "batch": 1, "hit": (1,), "miss": (0,)}
    given |= {"templates": (template(request),), "writes": request == SET, "keys": keys} | more
    return Op(**given)


def job(sockets: Sequence[socket.socket], *ops: Op, **more: Any) -> Job:
    """A short closed loop of RESP."""
    given: dict[str, Any] = {
        "sockets": tuple(each.fileno() for each in sockets),
        "protocol": "resp",
        "ops": ops,
        "filler": filler.BYTES,
        "mask": filler.MASK,
        "key_prefix": b"key:",
        "key_digits": 12,
        "known": 1000,
        "positions": (),
        "removed": (),
        "indeterminate": frozenset(),
        "sequence": 7,
        "seed": 5,
        "start_ns": monotonic_ns(),
        "seconds": 0.2,
        "patience": 0.5,
    }
    return Job(**given | more)


@contextlib.contextmanager
def served(handler: Handler, clients: int = 1) -> Iterator[list[socket.socket]]:
    """Connections to a server that treats each of them so."""
    with socket.create_server(("127.0.0.1", 0)) as server, contextlib.ExitStack() as stack:
        sockets, threads = [], []
        for number in range(clients):
            sockets.append(stack.enter_context(socket.create_connection(server.getsockname())))
            accepted, _ = server.accept()
            for each in (accepted, sockets[-1]):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=_serve, args=(handler, accepted, number), daemon=True)
            thread.start()
            threads.append(thread)
        yield sockets
        stack.close()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive(), "a handler does not end when its connection does"


def _serve(handler: Handler, connection: socket.socket, number: int) -> None:
    with connection, contextlib.suppress(OSError):
        handler(connection, number)


def requests(connection: socket.socket, size: int) -> Iterator[bytes]:
    """The requests that come, all of this size."""
    held = b""
    while data := connection.recv(1 << 16):
        held += data
        while len(held) >= size:
            yield held[:size]
            held = held[size:]


def always(reply: bytes, size: int = len(GET)) -> Handler:
    """A handler that answers each request so."""

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in requests(connection, size):
            connection.sendall(reply)

    return handler
