"""Protects the memory of this process from a server whose replies do not end: an endpoint, or one that storeproof has launched.

Resource limits are too coarse for this: the next allocation anywhere in the process would fail, whatever a client is doing. Timeouts do not
help either: each part of an endless reply arrives in time. So a thread looks at the memory of the process, and while that grows, at its
connections: the kernel counts what came in on each, and what was sent. Once far more has come in than any reply needs, nothing was sent
meanwhile, and the client has kept it, the thread shuts the connection down: the client finds it lost, and frees what it had received. One
that forgets what it has read, as while it looks through the keys of a large store, may read on.
"""

from __future__ import annotations

import functools
import os
import socket
import stat
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from storeproof.contract.address import Address
from storeproof.errors import StoreDied
from storeproof.units import size

_MOST: Final = 16 << 20
"""Bytes of a reply. The largest of a store that behaves have a few million; what a client makes of it takes several times as much."""
_GROWTH: Final = 2 << 20
"""Bytes by which the memory of the process grows from one look at its connections to the next: with a thousand of them, a look takes
longer than the pause."""
_PAUSE: Final = 0.01
_LINE: Final = 256
"""Bytes that hold the numbers of /proc/self/statm."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_TCP_INFO: Final = 160
"""Bytes of `struct tcp_info` (linux/tcp.h), up to what is read of it."""
_RECEIVED: Final = struct.Struct("128xQ16x4xI")
"""`tcpi_bytes_received` and `tcpi_data_segs_out` of it."""
_MAPPED: Final = "::ffff:"
"""Begins the IPv6 form of an IPv4 address."""

Peer = tuple[str, int]
"""IP address and port of a server."""


class _Waiting(NamedTuple):
    """A connection after its last request."""

    sent: int
    """Segments with data, until then."""
    received: int
    """Bytes before the reply, or when it was first looked at."""
    resident: int
    """Bytes of this process's memory at that moment."""


class MemoryWatch:
    """A watching thread, which runs from construction until `end`."""

    def __init__(self, most: int = _MOST) -> None:
        """`most`: bytes of one reply."""
        self._most = most
        self._before: dict[int, _Waiting] = {}
        """By the inode of a connection."""
        self._endless: dict[Peer, str] = {}
        """What these servers did."""
        self._over = threading.Event()
        threading.Thread(target=self._look, name="storeproof-watch", daemon=True).start()

    def check(self, name: str, address: Address) -> None:
        """Raise `StoreDied` if a connection to one of the ports of this store was shut down since it was last asked."""
        if self._endless and (said := [self._endless.pop(peer) for peer in _peers(address) if peer in self._endless]):
            raise StoreDied(f"{name} at {address} does not answer like a store any more: {said[0]}")

    def forget(self, address: Address) -> None:
        """Another server begins at this address."""
        with suppress(StoreDied):
            self.check("", address)

    def end(self) -> None:
        """Stop watching; may be called twice."""
        self._over.set()

    def _look(self) -> None:
        with Path("/proc/self/statm").open("rb", buffering=0) as counted:
            self._look_until_over(counted.fileno())

    def _look_until_over(self, counted: int) -> None:
        calm = _resident(counted)
        while not self._over.wait(_PAUSE):
            resident = _resident(counted)
            calm = min(calm, resident)
            if resident - calm > _GROWTH:
                calm = resident
                known, self._before = self._before, {}
                for connection in _connections():
                    with suppress(OSError, struct.error):  # struct.error: a kernel before 4.6
                        self._look_at(connection, known, resident)

    def _look_at(self, connection: socket.socket, known: Mapping[int, _Waiting], resident: int) -> None:
        received, sent = _RECEIVED.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO))
        inode = os.fstat(connection.fileno()).st_ino
        before = known.get(inode)
        since = self._before[inode] = before if before is not None and before.sent == sent else _Waiting(sent, received, resident)
        if received - since.received > self._most and resident - since.resident > self._most // 2:
            host, port = connection.getpeername()[:2]
            said = f"it answered one request with more than {size(self._most)}, and did not end; the connection was closed"
            self._endless[host.removeprefix(_MAPPED), port] = said
            connection.shutdown(socket.SHUT_RDWR)


@functools.cache
def memory_watch() -> MemoryWatch:
    """The one of this process, which begins with the first call."""
    return MemoryWatch()


def _peers(address: Address) -> set[Peer]:
    ports = (address.port, *address.ports.values())
    hosts = {str(found[4][0]) for found in socket.getaddrinfo(address.host, None, type=socket.SOCK_STREAM)}
    return {(host, port) for host in hosts for port in ports}


def _connections() -> Iterator[socket.socket]:
    """The TCP connections that this process opened, each as a duplicate descriptor that is closed afterwards. Those that it accepted, as a
    proxy does, bring requests, which may be long."""
    accepting: set[int] = set()
    found: list[tuple[int, int]] = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(each.name)).st_mode):
                with _duplicate(int(each.name)) as one:
                    if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
                        port = one.getsockname()[1]
                        if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                            accepting.add(port)
                        else:
                            found.append((int(each.name), port))
    for number, port in found:
        with suppress(OSError):
            if port not in accepting:
                with _duplicate(number) as connection:
                    yield connection


def _duplicate(number: int) -> socket.socket:
    return socket.socket(fileno=os.dup(number))


def _resident(counted: int) -> int:
    return int(os.pread(counted, _LINE, 0).split()[1]) * _PAGE
