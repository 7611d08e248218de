"""Concurrent clients, each in its own thread. No one waits for them longer than the limit of their case, or a signal, lets them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from storeproof.halt import HANG_SECONDS, halt

T = TypeVar("T")
_LOOK_SECONDS: Final = 0.2
"""How long a signal goes unnoticed by one that waits for threads."""


class ClientThread(threading.Thread, Generic[T]):
    """Work in a thread of the case that makes it. One that hangs is abandoned: what it has sent is unknown, and it sends no more."""

    def __init__(self, work: Callable[[], T], name: str = "storeproof-client") -> None:
        super().__init__(name=name, daemon=True)
        self._work = work
        self._limit = halt.limit
        self._found: T | None = None
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Work; what it returns or raises is kept."""
        halt.join_case(self._limit)
        try:
            self._found = self._work()
        except BaseException as reason:  # noqa: BLE001 - raised where it is waited for: a thread cannot
            self._failure = reason

    def result(self) -> T:
        """What the work returned, waited for. Raises what it raised; `Halted`: it hangs."""
        if not wait_for([self]):
            halt.check(f"the end of {self.name}")
        if self._failure is not None:
            raise self._failure
        return self._found  # type: ignore[return-value]  # it has ended, so this is what it returned


@dataclass(frozen=True)
class Running:
    """The running threads, and the event that stops them; the end of the block sets it too."""

    threads: Sequence[threading.Thread]
    stop: threading.Event

    @property
    def alive(self) -> bool:
        """Whether any of them still runs or hangs."""
        return any(thread.is_alive() for thread in self.threads)

    def end(self) -> None:
        """Stop them, and wait until they have ended."""
        self.stop.set()
        wait_for(self.threads, HANG_SECONDS)


def wait_for(threads: Iterable[threading.Thread], seconds: float = math.inf) -> bool:
    """Wait until all threads that were started have ended, but no longer than this, nor than the case may take; whether they have."""
    deadline = time.monotonic() + seconds
    for thread in threads:
        while thread.is_alive():
            if (left := min(deadline, halt.threads_end) - time.monotonic()) <= 0:
                return False
            thread.join(min(left, _LOOK_SECONDS))
    return True


def wait_until(condition: Callable[[], bool], seconds: float, look: float) -> None:
    """Wait until it holds, or the time is over, whichever is first; the caller looks at what there is.
    `look`: seconds between two looks, which take time from clients that are threads."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(look)


@contextmanager
def at_work(works: Iterable[Callable[[], T]]) -> Iterator[list[ClientThread[T]]]:
    """Work in as many threads; at the end of the block they are waited for."""
    jobs = [ClientThread(work) for work in works]
    try:
        for job in jobs:
            job.start()
        yield jobs
    finally:
        wait_for(jobs)


def together(works: Iterable[Callable[[], T]]) -> list[T]:
    """What each returns, worked at in as many threads. Raises what the first of those that failed has raised."""
    with at_work(works) as jobs:
        pass
    return [job.result() for job in jobs]


@contextmanager
def running(clients: Sequence[Callable[[threading.Event, threading.Event], None]]) -> Iterator[Running]:
    """Start the clients' `run(go, stop)` together, and wait for them at the end of the block."""
    go, stop = threading.Event(), threading.Event()
    jobs = [ClientThread(lambda client=client: client(go, stop)) for client in clients]  # type: ignore[misc]
    load = Running(jobs, stop)
    try:
        for job in jobs:
            job.start()
        go.set()
        yield load
    finally:
        stop.set()
        go.set()
        load.end()
