"""Protects the memory of the run from an endpoint that passed the probe and becomes hostile later.

Resource limits are too coarse for this: the next allocation anywhere in the process would fail, whatever a client is doing. Timeouts do not
help either: each part of an endless reply arrives in time. So a thread samples the memory of this process. When it has grown by far more
than replies need, and is still growing, the thread shuts down the connections to the endpoint: the client finds its connection lost and
frees what it had received. The worker processes of the engines are not watched.
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
"""Bytes by which the process may grow after the endpoint has passed its check."""
_STILL_GROWING = 8 << 20
"""Bytes of growth between two samples; the data that a run collects itself grows more slowly."""
_PAUSE = 0.2


class MemoryWatch:
    """A watching thread, which runs from construction until `end`."""

    def __init__(self, address: Address, most: int = _MOST) -> None:
        self._there = {found[4][:2] for found in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)}
        self._process = psutil.Process()
        self._limit = self._resident() + most
        self._over = threading.Event()
        threading.Thread(target=self._look, name="storeproof-watch", daemon=True).start()

    def end(self) -> None:
        """Stop watching; may be called twice."""
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
    """This process's connections to these (host, port) pairs, each as a duplicate descriptor that is closed afterwards."""
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(each.name)).st_mode):
                with socket.socket(fileno=os.dup(int(each.name))) as connection:
                    if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[:2] in there:
                        yield connection
