"""What all clients that write have, whatever they write."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from storeproof.contract import Unknown
from storeproof.experiments.durability.clients import Ended


class Writer(Protocol):
    """What both kinds of clients have."""

    ended: Ended

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Write from `go` until `stop`, or until the connection is lost; then end the session."""

    def step(self) -> bool:
        """One operation; False if there is no point in another."""

    def close(self) -> None:
        """End the session."""


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
