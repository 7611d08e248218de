"""Clients at work: until the fault has struck, each in a thread of its own, or for some operations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from storeproof.contract import Unknown
from storeproof.suites.durability.clients import Ended

HANG_SECONDS: Final = 30.0
"""How long a client may take to notice that its store is gone; the adapters' own limits are below it."""


class Writer(Protocol):
    """What both kinds of clients have."""

    ended: Ended

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Write from `go` until `stop`, or until the connection is lost; then end the session."""

    def step(self) -> bool:
        """One operation; False if there is no point in another."""

    def close(self) -> None:
        """End the session."""


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


def raise_failures(clients: Sequence[Writer]) -> None:
    """What broke the contract in a client's thread is raised here."""
    for client in clients:
        if client.ended.failure is not None:
            raise client.ended.failure


def write_some(client: Writer, operations: int) -> None:
    """So many operations, fewer if there is no point in more; then the session ends.

    Raises:
        Unknown: the connection was lost.
        Breach: what no adapter may raise.
    """
    try:
        for _ in range(operations):
            if not client.step():
                break
    finally:
        client.close()
    raise_failures([client])
    if client.ended.unknown:
        raise Unknown(client.ended.unknown)
