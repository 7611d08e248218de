"""Measures the physical limits that the machine sets for any store: the latency of a sync and of a loopback round trip."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

_BLOCK: Final = 4096
_SYNCS: Final = 30
_TRIPS: Final = 500
_LONGEST: Final = 0.15
"""Time limit in seconds for each measurement; on a slow disk fewer syncs are made."""


@cache
def limits_us(directory: Path) -> tuple[float | None, float | None]:
    """`fsync_us` and `loopback_us`, measured once; None where the machine does not let us: no place to write, no descriptor left."""
    return _measure_or_none(lambda: fsync_us(directory)), _measure_or_none(loopback_us)


def _measure_or_none(measure: Callable[[], float]) -> float | None:
    try:
        return measure()
    except OSError:
        return None


def fsync_us(directory: Path) -> float:
    """Median latency in microseconds of a 4 KiB append and fsync in a directory. Raises `OSError`: the directory cannot be written to."""
    block = os.urandom(_BLOCK)
    times: list[float] = []
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        begun = perf_counter()
        while len(times) < _SYNCS and (len(times) < 3 or perf_counter() - begun < _LONGEST):
            start = perf_counter()
            file.write(block)
            os.fsync(file.fileno())
            times.append(perf_counter() - start)
    return median(times) * 1e6


def loopback_us() -> float:
    """Median latency in microseconds of a one-byte round trip over a TCP connection on the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), timeout=5) as client:
        echo, _ = server.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        echo.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answering = threading.Thread(target=_echo, args=(echo,), daemon=True)
        answering.start()
        times: list[float] = []
        begun = perf_counter()
        while len(times) < _TRIPS and perf_counter() - begun < _LONGEST:
            start = perf_counter()
            client.sendall(b"x")
            client.recv(1)
            times.append(perf_counter() - start)
        client.shutdown(socket.SHUT_WR)
        answering.join(timeout=5)
    return median(times) * 1e6


def _echo(connection: socket.socket) -> None:
    with connection:
        while byte := connection.recv(1):
            connection.sendall(byte)
