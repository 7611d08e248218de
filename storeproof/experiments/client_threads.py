"""Concurrent clients, each in its own thread, until they are told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

HANG_SECONDS: Final = 30.0
"""Time for a client to notice that its store is gone; the adapters' own timeouts are shorter."""


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
        deadline = time.monotonic() + HANG_SECONDS
        for thread in self.threads:
            # A thread that hangs longer is abandoned. Its operation is in flight and thus unknown; it will not write another.
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))


def wait_until(condition: Callable[[], bool], seconds: float, look: float) -> None:
    """Wait until it holds, or the time is over, whichever is first; the caller looks at what there is.

    Args:
        look: seconds between two looks, which take time from clients that are threads.
    """
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(look)


@contextmanager
def running(clients: Sequence[Callable[[threading.Event, threading.Event], None]]) -> Iterator[Running]:
    """Start the clients' `run(go, stop)` together, and wait for them at the end of the block."""
    go, stop = threading.Event(), threading.Event()
    threads = [threading.Thread(target=client, args=(go, stop), daemon=True) for client in clients]
    load = Running(threads, stop)
    try:
        for thread in threads:
            thread.start()
        go.set()
        yield load
    finally:
        stop.set()
        go.set()
        load.end()
