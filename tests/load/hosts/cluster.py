"""A Dask scheduler and its workers, as a user starts them: each a process of its own on the loopback interface."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Self


class Cluster:
    """Up while it is entered."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.scheduler = f"tcp://127.0.0.1:{port}"
        self._names = [f"host-{number}" for number in range(workers)]
        self._port = port
        self._open = ExitStack()
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        """By their names."""

    def __enter__(self) -> Self:
        self._start("scheduler", "--host=127.0.0.1", f"--port={self._port}")
        for name in self._names:
            self.workers[name] = self._start("worker", self.scheduler, "--nthreads=1", "--no-nanny", f"--name={name}")
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()

    def await_workers(self) -> None:
        """Until the scheduler answers, and knows all of them."""
        from distributed import Client

        with Client(self.scheduler, timeout=60, set_as_default=False) as client:
            if self._names:
                client.wait_for_workers(len(self._names), timeout=60)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        line = (sys.executable, "-m", "dask", *arguments, "--no-dashboard")
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._open.callback(process.wait)
        self._open.callback(process.kill)
        return process
