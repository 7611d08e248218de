"""Keeps an endpoint that turns hostile later from exhausting the memory of the run itself.

Resource limits are too blunt for it: the next allocation anywhere would fail, with a client in any state. A client that receives an
endless reply does not time out either, since each part comes in time. So a thread samples the memory of the process. When it has grown by
far more than replies need, and still grows, the thread shuts down the connections to the endpoint: the driver finds its connection lost
and frees what it had collected. Driver and pump processes are not watched.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from storeproof.contract.address import Address

_MOST = 1 << 30
"""Bytes that the process may have more than when the endpoint was found good."""
_STILL_GROWING = 8 << 20
"""Bytes between two samples: what a run collects itself grows more slowly."""
_PAUSE = 0.2


class MemoryWatch:
    """A thread, from when it is made until `end`."""

    def __init__(self, address: Address, most: int = _MOST) -> None:
        self._there = {found[4][:2] for found in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)}
        self._process = psutil.Process()
        self._limit = self._resident() + most
        self._over = threading.Event()
        threading.Thread(target=self._look, name="storeproof-watch", daemon=True).start()

    def end(self) -> None:
        """Watch no longer; may be called twice."""
        self._over.set()

    def _look(self) -> None:
        before = self._resident()
        while not self._over.wait(_PAUSE):
            now = self._resident()
            if now > self._limit and now - before > _STILL_GROWING:
                for connection in _connections(self._there):
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)
            before = now

    def _resident(self) -> int:
        return int(self._process.memory_info().rss)


def _connections(there: Collection[object]) -> Iterator[socket.socket]:
    """The connections of this process to these hosts and ports, each by a duplicate descriptor that is closed again."""
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(each.name)).st_mode):
                with socket.socket(fileno=os.dup(int(each.name))) as connection:
                    if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[:2] in there:
                        yield connection
