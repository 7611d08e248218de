"""Clients that work together, each in a thread of its own, until they are told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

HANG_SECONDS: Final = 30.0
"""How long a client may take to notice that its store is gone; the adapters' own limits are below it."""


@dataclass(frozen=True)
class Running:
    """What runs, and what tells it to stop; it is told so in any case when the block ends."""

    threads: Sequence[threading.Thread]
    stop: threading.Event

    @property
    def alive(self) -> bool:
        """Whether any of them still works, or hangs."""
        return any(thread.is_alive() for thread in self.threads)


@contextmanager
def running(clients: Sequence[Callable[[threading.Event, threading.Event], None]]) -> Iterator[Running]:
    """Let the clients' `run(go, stop)` begin together, and wait for them at the end of the block."""
    go, stop = threading.Event(), threading.Event()
    threads = [threading.Thread(target=client, args=(go, stop), daemon=True) for client in clients]
    try:
        for thread in threads:
            thread.start()
        go.set()
        yield Running(threads, stop)
    finally:
        stop.set()
        go.set()
        deadline = time.monotonic() + HANG_SECONDS
        for thread in threads:
            # One that hangs beyond this is left behind, in flight and thus unknown; told to stop, it writes no more.
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
