"""Protects the memory of a client from an endpoint that passed the probe and becomes hostile later.

Resource limits are too coarse for this: the next allocation anywhere in the process would fail, whatever a client is doing. Timeouts do not
help either: each part of an endless reply arrives in time. So a thread looks at the connections to the endpoint: the kernel counts what
came in on each, and what was sent. Once far more has come in than any reply needs, nothing was sent meanwhile, and the client has kept
it, the thread shuts the connection down: the client finds it lost, and frees what it had received. One that forgets what it has read, as
while it looks through the keys of a large store, may read on.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from storeproof.contract.address import Address
from storeproof.units import size

_MOST: Final = 24 << 20
"""Bytes of a reply. The largest of a store that behaves have a few million; what a client makes of it takes several times as much."""
_PAUSE: Final = 0.01
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_TCP_INFO: Final = 160
"""Bytes of `struct tcp_info` (linux/tcp.h), up to what is read of it."""
_RECEIVED: Final = struct.Struct("128xQ16x4xI")
"""`tcpi_bytes_received` and `tcpi_data_segs_out` of it."""


class _Waiting(NamedTuple):
    """A connection after its last request."""

    sent: int
    """Segments with data, until then."""
    received: int
    """Bytes before the reply."""
    resident: int
    """Bytes of this process's memory before the reply."""


class MemoryWatch:
    """A watching thread, which runs from construction until `end`."""

    def __init__(self, address: Address, most: int = _MOST) -> None:
        """`most`: bytes of one reply."""
        self._there = {found[4][:2] for found in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)}
        self._most = most
        self._before: dict[int, _Waiting] = {}
        """By the inode of a connection."""
        self._endless = ""
        self._over = threading.Event()
        threading.Thread(target=self._look, name="storeproof-watch", daemon=True).start()

    def complaint(self) -> str:
        """What the endpoint did, if a connection was shut down since it was last asked; else empty."""
        found, self._endless = self._endless, ""
        return found

    def end(self) -> None:
        """Stop watching; may be called twice."""
        self._over.set()

    def _look(self) -> None:
        while not self._over.wait(_PAUSE):
            known, self._before = self._before, {}
            resident = _resident()
            for connection in _connections(self._there):
                with suppress(OSError, struct.error):  # struct.error: a kernel before 4.6
                    self._look_at(connection, known, resident)

    def _look_at(self, connection: socket.socket, known: Mapping[int, _Waiting], resident: int) -> None:
        received, sent = _RECEIVED.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO))
        inode = os.fstat(connection.fileno()).st_ino
        before = known.get(inode)
        since = self._before[inode] = before if before is not None and before.sent == sent else _Waiting(sent, received, resident)
        if received - since.received > self._most and resident - since.resident > self._most // 2:
            self._endless = f"it answered one request with more than {size(self._most)}, and did not end; the connection was closed"
            connection.shutdown(socket.SHUT_RDWR)


def _connections(there: Collection[object]) -> Iterator[socket.socket]:
    """This process's connections to these (host, port) pairs, each as a duplicate descriptor that is closed afterwards."""
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(each.name)).st_mode):
                with socket.socket(fileno=os.dup(int(each.name))) as connection:
                    if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[:2] in there:
                        yield connection


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
