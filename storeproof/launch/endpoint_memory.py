"""Keeps an endpoint that turns hostile later from filling the memory of the run itself.

The limits of a process are too blunt for it: they would strike whatever asks next, and leave a client in the middle of anything. A client
that is sent without end does not time out either, since each part comes in time. So a thread looks at how much memory the
process has, and when that has grown by far more than answers do, and still grows, it ends the connections to the endpoint: whichever
driver it is finds its connection lost, and lets go of what it had collected. Driver and pump processes are not watched.
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
"""Bytes between two looks: what a run collects itself comes more slowly."""
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
    """The connections of this process to these hosts and ports, whoever opened them: each by a descriptor of its own, closed again."""
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(each.name)).st_mode):
                with socket.socket(fileno=os.dup(int(each.name))) as connection:
                    if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[:2] in there:
                        yield connection
