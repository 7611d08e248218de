"""Starts hosts of embedded libraries by a fork server: see `storeproof.embedded.fork_server`."""

from __future__ import annotations

import contextlib
import functools
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import msgpack

from storeproof.cleanup.registry import registry
from storeproof.errors import MachineFailed

_ROOM: Final = " " * 1000
"""For the command lines of hosts, as /proc shows them."""


class ForkServer:
    """A fork server, and the connection to it; it ends with the connection.

    `module` is what it runs: it may load more than the hosts of embedded libraries need, and then be that fork server.
    """

    def __init__(self, environment: Mapping[str, str], module: str = "storeproof.embedded.fork_server") -> None:
        self._asking = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(theirs.fileno()), _ROOM],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={**environment, "HOME": "/"},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        registry.add(self)

    def close(self) -> None:
        _fork_server.cache_clear()  # who starts a host after that has another
        with contextlib.suppress(OSError):  # it has ended
            self._socket.shutdown(socket.SHUT_RDWR)
        self._process.wait()

    def start(self, arguments: Sequence[str], directory: Path, environment: Mapping[str, str], log: int) -> ForkedProcess:
        """Run Python with these arguments, on the cores of this thread. Raises `OSError`: the kernel refuses to fork."""
        pid = self.ask([arguments, str(directory), environment, list(os.sched_getaffinity(0))], [log])
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return ForkedProcess(self, pid)

    def ask(self, request: object, descriptors: Collection[int] = ()) -> int:
        """What the fork server replies. Raises `MachineFailed`: it was ended."""
        with self._asking:
            try:
                socket.send_fds(self._socket, [msgpack.packb(request)], list(descriptors))
                reply = self._socket.recv(64)
            except (BrokenPipeError, ConnectionResetError):
                reply = b""
            if not reply:
                _fork_server.cache_clear()
                raise MachineFailed("the process that forks the hosts of embedded stores was ended", "run it again")
            return cast(int, msgpack.unpackb(reply))


def can_be_forked(command: Sequence[str]) -> bool:
    """Whether a command is this Python on a module, a text or a file, without options of its own."""
    return command[0] == sys.executable and len(command) > 1 and (command[1] in ("-m", "-c") or not command[1].startswith("-"))


def fork_server(environment: Mapping[str, str], **module: str) -> ForkServer:
    """The fork server of this process for an environment; started with the first call, and closed after every server made later."""
    return _fork_server(os.getpid(), tuple(environment.items()), **module)


@functools.cache
def _fork_server(_owner: int, environment: tuple[tuple[str, str], ...], **module: str) -> ForkServer:
    return ForkServer(dict(environment), **module)


class ForkedProcess:
    """A `Leader` that was forked. The fork server, whose child it is, reaps it when asked, and not before: until then its id is its own."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid = pid
        self._server = server
        self._descriptor = os.pidfd_open(pid)
        self._looking = threading.Lock()
        self._code: int | None = None

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def _look(self, seconds: float | None) -> int | None:
        with self._looking:
            if self._code is None:
                poll = select.poll()
                poll.register(self._descriptor, select.POLLIN)
                if poll.poll(None if seconds is None else seconds * 1000):
                    self._code = self._server.ask(self.pid)
                    os.close(self._descriptor)
            return self._code
