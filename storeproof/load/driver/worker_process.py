"""A worker process, as the engine that started it sees it."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection

from storeproof.load.driver.messages import Command, Reply
from storeproof.load.engine import LoadFailed

_LAST_WORDS = 2000


class WorkerProcess:
    """Started afresh and not forked: a process with threads must not be forked, and a test session has threads."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            # -P: the directory that the run was started in is not on the worker's path.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "storeproof.load.driver.worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stderr=self._errors,
            )
        except OSError as reason:
            ours.close()
            raise LoadFailed(f"a load worker cannot be started: {reason}") from reason
        finally:
            theirs.close()
        self.link = Connection(ours.detach())
        """Ready when the worker has something to say."""

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, command: Command) -> None:
        """Send a command. Raises `LoadFailed` if the worker is gone."""
        try:
            self.link.send(command)
        except OSError:
            raise self._dead() from None

    def hear(self) -> Reply:
        """The next reply, waited for without limit: wait for `link` first. Raises `LoadFailed` if the worker is gone."""
        try:
            reply: Reply = self.link.recv()
        except (EOFError, OSError):
            raise self._dead() from None
        return reply

    def kill(self) -> None:
        """End it now. Never raises; may be called twice."""
        self.link.close()
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._errors.close()

    def _dead(self) -> LoadFailed:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        with suppress(ValueError):
            self._errors.seek(0)
            words = self._errors.read().decode(errors="replace")[-_LAST_WORDS:]
            return LoadFailed(f"a load worker ended unexpectedly (exit status {self._process.returncode})\n{words}".rstrip())
        return LoadFailed("the load engine was closed while it was at work")
