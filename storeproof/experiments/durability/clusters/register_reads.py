"""Reads of one key during the fault of a cluster: whether nodes that are not the primary, or are it no more, show what was replaced.

One client at a time writes the key, at the primary: before the fault at the old one, after the failover at the new one. All the while one
client reads it at the node that the fault strikes, and one at another node.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from storeproof.contract import Layout, Session
from storeproof.experiments.client import Client, ClosedLoop
from storeproof.experiments.contended_keys import ContendedKey, ContendedKeys, KeyType
from storeproof.experiments.durability.clusters.pace import MOST_READS, pause_of
from storeproof.history import Action, Operation, Recorder

_MODEL: Final = "single_key"
_CLIENTS: Final = 3
_MOST: Final = 100_000
"""Requests of one client in a round: more than there is time for."""
_READ: Final[Mapping[Action, int]] = {"get": 1}
_WRITE: Final[Mapping[Action, int]] = {"put": 1}


class Watching(ClosedLoop):
    """A client that pauses before each request, and connects again after a lost connection."""

    def __init__(self, pause: float) -> None:
        """`pause`: in seconds."""
        super().__init__(reconnects=True)
        self._pause = pause

    def wait(self, stop: threading.Event) -> bool:
        """Wait a moment."""
        return not stop.wait(self._pause)


class RegisterReads:
    """The key of each round, and what was read of it."""

    def __init__(self, layout: Layout, rng: random.Random, rounds: int) -> None:
        """
        Args:
            layout: of the model `single_key`; the collection exists.
            rounds: how many there are.
        """
        self._layout = layout
        self._pause = pause_of(_CLIENTS, rounds, MOST_READS)
        self._rng = rng
        self._recorder = Recorder()
        self._round = 0

    @classmethod
    def of(cls, layouts: Mapping[str, Layout], rng: random.Random, rounds: int) -> RegisterReads | None:
        """None if there is no collection of single values."""
        return cls(layouts[_MODEL], rng, rounds) if _MODEL in layouts else None

    def begin(self) -> None:
        """A round begins, with another key."""
        self._round += 1
        self._recorder = Recorder()

    def writer(self, connect: Callable[[], Session]) -> Client:
        """A client that writes the key."""
        return self._client(connect, _WRITE)

    def reader(self, connect: Callable[[], Session]) -> Client:
        """A client that reads it."""
        return self._client(connect, _READ)

    def operations(self) -> list[Operation]:
        """Those of this round. Call it when its clients have ended."""
        return self._recorder.operations()

    def _client(self, connect: Callable[[], Session], weights: Mapping[Action, int]) -> Client:
        key = ContendedKey(KeyType("register", _MODEL, weights), self._layout, f"register:{self._round}")
        keys: Sequence[ContendedKey] = [key]
        strategy = ContendedKeys(self._recorder.client(), keys, _MOST, random.Random(self._rng.getrandbits(64)))
        return Client(connect, strategy, Watching(self._pause))
