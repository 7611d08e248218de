"""A server that answers every request with the same reply, in a process of its own as a store has one.

The rate against it is the ceiling of the load generator: no store can be measured to be faster.

A connection begins with what it wants, in little-endian numbers of four bytes: the length of a request, that of the reply, where the id
stands in a request, how wide it is, and how many places it goes to in the reply; then these places, and the reply. The server answers
`!` when it has read that, and from then on sends the reply once for each request of that length.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from storeproof import native_support
from storeproof.errors import NotAvailable

_START_SECONDS: Final = 10.0
_END_SECONDS: Final = 5.0
READY: Final = b"!"


@dataclass(frozen=True)
class CannedReply:
    """What each connection of a job is answered."""

    request: int
    """Bytes of every request."""
    reply: bytes
    id_at: int = 0
    """Where the id stands in a request."""
    id_width: int = 0
    """Bytes of it that are copied; 0: replies have none."""
    places: tuple[int, ...] = ()
    """Where it goes in the reply."""

    @property
    def greeting(self) -> bytes:
        numbers = (self.request, len(self.reply), self.id_at, self.id_width, len(self.places), *self.places)
        return struct.pack(f"<{len(numbers)}I", *numbers) + self.reply


class NullServer:
    """One such process; it ends with us, whatever ends us."""

    def __init__(self) -> None:
        """Raises `NotAvailable`: nothing is compiled here, or the process does not start."""
        native_support.require("the null server")
        self._process = subprocess.Popen(
            # -P: the directory that the run was started in is not on its path.
            [sys.executable, "-P", "-m", "storeproof.load.wire.null_server_host"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is for us, who end it
        )
        try:
            assert self._process.stdout is not None
            greeting = self._process.stdout.readline()
            if not greeting:
                raise NotAvailable("the null server did not start")
            self.port = int(greeting)
            """The port, on this machine."""
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @contextlib.contextmanager
    def connections(self, canned_reply: CannedReply, clients: int) -> Iterator[tuple[socket.socket, ...]]:
        """That many connections with these answers, closed afterwards. Raises `OSError`: they cannot be made."""
        with contextlib.ExitStack() as stack:
            made = []
            for _ in range(clients):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=_START_SECONDS))
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                one.sendall(canned_reply.greeting)
                if one.recv(1) != READY:
                    raise ConnectionError("the null server closed the connection")
                made.append(one)
            yield tuple(made)

    def close(self) -> None:
        """End it. Never raises; may be called twice."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
