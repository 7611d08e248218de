"""Ports that someone else takes: some hundred of the range, and each that a server of the trial has just left."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

from storeproof.machine import ports
from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_MANY = 300
_TIMES = 4
"""A port is taken at most as often in a trial: a store that is started again and again gets through in the end."""


def _take(port: int) -> socket.socket | None:
    """A socket that listens on it; None while someone else does."""
    taking = socket.socket()
    taking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taking.bind(("127.0.0.1", port))
        taking.listen()
    except OSError:
        taking.close()
        return None
    return taking


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    def work() -> None:
        with contextlib.ExitStack() as taken:
            for _ in range(_MANY):
                if (many := _take(ports.free_port())) is not None:
                    taken.enter_context(many)
            begins = time.monotonic() + sut.random.choice((0, sut.random.uniform(0, 10)))
            known: set[int] = set()
            looked = 0.0
            times = 0
            while sut.until_over(0.002, 0.002) and times < _TIMES:
                if time.monotonic() - looked > 0.1:
                    known |= sut.ports()
                    looked = time.monotonic()
                for port in known if time.monotonic() >= begins else ():
                    if (taking := _take(port)) is None:
                        continue
                    times += 1
                    with taking, sut.act(f"port {port} is taken"):
                        sut.until_over(1, 6)
                    known = set()
                    break
            sut.over.wait()

    with meanwhile(sut, work):
        yield


NUISANCE = Nuisance("taken ports", _around)
