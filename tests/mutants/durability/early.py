"""Stands between clients and Redis, and acknowledges each SET and DEL before it sends it on, 20 ms later.

Who reads waits until all of that is done: only a fault shows that it was not. It speaks no more of the protocol than the durability
suite needs of a store of plain values, one request at a time.

Run: `python early.py --port N -- redis-server ARGUMENT...`; it starts the server, on a free port, and passes SIGTERM on.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import BinaryIO, Final

_LATE_SECONDS: Final = 0.02
_EARLY: Final = {b"SET": b"+OK\r\n", b"DEL": b":1\r\n"}


class Upstream:
    """The connection over which acknowledged writes go, in order."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._queue: SimpleQueue[tuple[float, bytes] | threading.Event] = SimpleQueue()
        threading.Thread(target=self._send, daemon=True).start()

    def later(self, request: bytes) -> None:
        """Send it on when it is due."""
        self._queue.put((time.monotonic() + _LATE_SECONDS, request))

    def wait(self) -> None:
        """Until all that was put in so far is done."""
        done = threading.Event()
        self._queue.put(done)
        done.wait()

    def _send(self) -> None:
        connection: tuple[socket.socket, BinaryIO] | None = None
        while True:
            each = self._queue.get()
            if isinstance(each, threading.Event):
                each.set()
                continue
            due, request = each
            time.sleep(max(0.0, due - time.monotonic()))
            connection = connection or connect(self._port)
            connection[0].sendall(request)
            reply(connection[1])


def connect(port: int) -> tuple[socket.socket, BinaryIO]:
    """A connection to the server."""
    server = socket.create_connection(("127.0.0.1", port))
    return server, server.makefile("rb")


def reply(stream: BinaryIO) -> bytes:
    """One message of the protocol, a request or a reply; empty at the end."""
    head = stream.readline()
    kind, count = head[:1], head[1:-2]
    if kind == b"$" and count != b"-1":
        return head + stream.read(int(count) + 2)
    if kind in (b"*", b"%"):
        return head + b"".join(reply(stream) for _ in range(int(count) * (2 if kind == b"%" else 1)))
    return head


def serve(client: socket.socket, upstream: Upstream, port: int) -> None:
    """One client."""
    with client, client.makefile("rb") as requests:
        server, replies = connect(port)
        with server:
            while request := reply(requests):
                early = _EARLY.get(request.split(b"\r\n")[2].upper())
                if early is not None:
                    upstream.later(request)
                    client.sendall(early)
                    continue
                upstream.wait()
                server.sendall(request)
                client.sendall(reply(replies))


def main(port: int, command: Sequence[str]) -> None:
    """Start the server and serve."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        behind = free.getsockname()[1]
    server = subprocess.Popen([*command, "--port", str(behind)])

    def stop(_signal: int, _frame: object) -> None:
        server.terminate()
        server.wait()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    while True:
        try:
            connect(behind)
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    upstream = Upstream(behind)
    with socket.create_server(("127.0.0.1", port), backlog=256) as listening:
        while True:
            client, _ = listening.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(client, upstream, behind), daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[2]), sys.argv[4:])
