"""The load for stale reads: some clients write a few keys, the others read them, and every answer is recorded.

Each round has new keys. It ends when there were enough writes and reads, so that a round on a fast store takes no longer than it must, and
one on a slow store sees as much.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from storeproof.check import Staleness, staleness, together
from storeproof.contract import Key, Layout
from storeproof.experiments.client import Client, open_clients, raise_unknown, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.contended_keys import ContendedKey, ContendedKeys, KeyType
from storeproof.history import Action, ClientLog, Recorder, by_place
from storeproof.store_under_test import StoreUnderTest

_KEYS: Final = 2
"""Few, so that reads and writes meet."""
_WRITERS: Final = 0.25
"""Share of the clients that write; at least two, so that writes meet too."""
_READ: Final[Mapping[Action, int]] = {"get": 1}
_WRITE: Final[Mapping[Action, int]] = {"put": 9, "delete": 1}
"""The operations of those that read, and of those that write, with their weights."""
_READS: Final = 25
"""Reads of a round for each write that the scale wants."""
_LONGEST_SECONDS: Final = 10.0
"""A round ends after this time with what it has."""
_MOST: Final = 20_000
"""Requests of one client in a round, so that a history of a fast store beside slow writers does not fill the memory."""
_LOOK_SECONDS: Final = 0.002
_SHOWN: Final = 3


@dataclass
class StaleReads:
    """What was seen, round by round."""

    clients: int
    keys: int
    rounds: list[Staleness] = field(default_factory=list)
    writes: int = 0
    """Acknowledged ones."""

    @property
    def all(self) -> Staleness:
        return together(self.rounds)

    def sentence(self) -> str:
        """How many reads there were, how many of them were stale, and how old."""
        found = self.all
        beside = f"{found.reads:,} reads beside {self.writes:,} writes of {self.keys} keys by {self.clients} clients"
        if not found.stale:
            return f"{len(self.rounds)} rounds, {beside}; none was stale"
        ages = found.ages_ms
        where = sum(bool(each.stale) for each in self.rounds)
        often = f"{len(found.stale):,} were stale, in {where} of {len(self.rounds)} rounds"
        return f"{beside}; {often}; their age was {median(ages):.1f} ms in the median, {ages[-1]:.1f} ms at most"

    def examples(self) -> list[str]:
        return [str(each) for each in self.all.stale[:_SHOWN]]


def read_contended_keys(sut: StoreUnderTest, layout: Layout) -> StaleReads:
    """All rounds, on the store that the cases share; the collection is prepared.

    Raises:
        Unknown: a client lost its connection, which says nothing about the store.
        Breach: an adapter broke the contract.
    """
    scale = sut.scale.correctness
    found = StaleReads(clients=max(3, scale.clients), keys=_KEYS)
    for number in range(1, scale.stale_read_rounds + 1):
        sut.progress(f"stale_reads.{layout.model.model} · round {number}/{scale.stale_read_rounds}")
        recorder = Recorder()
        keys = [f"round{number}:hot{each}" for each in range(_KEYS)]
        rng = random.Random(f"{sut.seed} stale {layout.model.model} {number}")
        _play(sut, layout, recorder, keys, rng, scale.concurrent_operations, found.clients)
        operations = recorder.operations()
        found.writes += sum(each.action != "get" and each.outcome == "ok" for each in operations)
        found.rounds.append(together(staleness(each) for each in by_place(operations).values()))
    return found


def _play(
    sut: StoreUnderTest, layout: Layout, recorder: Recorder, keys: Sequence[Key], rng: random.Random, writes: int, clients: int
) -> None:
    """One round: until there were as many writes, and `_READS` times as many reads."""
    writers = max(2, round(clients * _WRITERS))
    logs: list[ClientLog] = []

    def connect() -> Client:
        weights = _WRITE if len(logs) < writers else _READ
        kind = KeyType("stale_reads", layout.model.model, weights)
        logs.append(recorder.client())
        mine = [ContendedKey(kind, layout, key) for key in keys]
        strategy = ContendedKeys(logs[-1], mine, _MOST // len(keys), random.Random(rng.getrandbits(64)))
        return Client(lambda: sut.connect(sut.shared()), strategy)

    def enough() -> bool:
        return sum(each.ended for each in logs[:writers]) >= writes and sum(each.ended for each in logs[writers:]) >= _READS * writes

    opened = open_clients(clients, connect)
    with under_load(opened) as load:
        wait_until(lambda: enough() or not load.alive, _LONGEST_SECONDS, _LOOK_SECONDS)
    raise_unknown(opened)
