"""The load for stale reads: some clients write a few keys, the others read them, and every answer is recorded.

Each round has new keys. It ends when there were enough writes and reads, so that a round on a fast store takes no longer than it must, and
one on a slow store sees as much.
"""

from __future__ import annotations

import random
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from storeproof.check import Staleness, staleness, together
from storeproof.contract import Collection, Key, Layout, Session, Unknown, call
from storeproof.experiments.client import Client, Strategy, open_clients, under_load
from storeproof.history import Action, Answer, ClientLog, Ending, Recorder, by_place
from storeproof.records.self_verifying import identify, record, write_id
from storeproof.spec.scale import CorrectnessScale
from storeproof.store_under_test import StoreUnderTest

ROUNDS: Final = 5

_KEYS: Final = 2
"""Few, so that reads and writes meet."""
_WRITERS: Final = 0.25
"""Share of the clients that write; at least two, so that writes meet too."""
_DELETES: Final = 0.1
"""Share of the writes that are deletes."""
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
        """All rounds."""
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
        """The first stale reads."""
        return [str(each) for each in self.all.stale[:_SHOWN]]


class _Hot(Strategy):
    """Requests for the same few keys as all other clients."""

    def __init__(self, log: ClientLog, layout: Layout, keys: Sequence[Key], rng: random.Random) -> None:
        self.log = log
        self._layout = layout
        self._keys = keys
        self._rng = rng
        self._reply: Any = None
        self._under_way: tuple[Action, Key] = ("get", keys[0])

    @property
    def exhausted(self) -> bool:
        """Whether it had its share of requests."""
        return self.log.ended >= _MOST

    def use(self, session: Session) -> None:
        """Open the collection."""
        self._collection: Collection = session.collection(self._layout)

    def request(self) -> None:
        """Send one request for any of the keys."""
        action, key = self._action(), self._rng.choice(self._keys)
        new_id = write_id(self.log.client, self.log.ended + 1) if action == "put" else ""
        args = (key, record(self._layout.model, key, new_id)) if new_id else (key,)
        self._under_way, self._reply = (action, key), None
        self.log.invoke(action, (self._layout.name, key), write_id=new_id)
        self._reply = call(self._collection, self._layout, action, *args)

    def end(self, outcome: Ending) -> None:
        """Record the answer: the id of the write that a read returned, or what is wrong with its record."""

        def answer() -> Answer:
            action, key = self._under_way
            if action != "get" or self._reply is None:
                return None
            seen = identify(self._layout.model, key, self._reply)
            return seen.write_id or f"({seen.kind})"

        self.log.end(outcome, answer)

    @abstractmethod
    def _action(self) -> Action:
        """What to request next."""


class _Reads(_Hot):
    """Reads."""

    def _action(self) -> Action:
        return "get"


class _Writes(_Hot):
    """Puts, and now and then a delete."""

    def _action(self) -> Action:
        return "delete" if self._rng.random() < _DELETES else "put"


def read_hot_keys(sut: StoreUnderTest, layout: Layout, rounds: int = ROUNDS) -> StaleReads:
    """All rounds, on the store that the cases share; the collection is prepared.

    Raises:
        Unknown: a client lost its connection, which says nothing about the store.
        Breach: an adapter broke the contract.
    """
    scale = sut.scale.correctness
    found = StaleReads(clients=max(3, scale.clients), keys=_KEYS)
    for number in range(1, rounds + 1):
        sut.progress(f"stale_reads.{layout.model.model} · round {number}/{rounds}")
        recorder = Recorder()
        keys = [f"round{number}:hot{each}" for each in range(_KEYS)]
        rng = random.Random(f"{sut.seed} stale {layout.model.model} {number}")
        _play(sut, layout, recorder, keys, rng, scale)
        operations = recorder.operations()
        found.writes += sum(each.action != "get" and each.outcome == "ok" for each in operations)
        found.rounds.append(together(staleness(each) for each in by_place(operations).values()))
    return found


def _play(
    sut: StoreUnderTest, layout: Layout, recorder: Recorder, keys: Sequence[Key], rng: random.Random, scale: CorrectnessScale
) -> None:
    """One round."""
    clients = max(3, scale.clients)
    writers = max(2, round(clients * _WRITERS))
    strategies: list[_Hot] = []

    def connect() -> Client:
        kind = _Writes if len(strategies) < writers else _Reads
        strategies.append(kind(recorder.client(), layout, keys, random.Random(rng.getrandbits(64))))
        return Client(lambda: sut.connect(sut.shared()), strategies[-1])

    opened = open_clients(clients, connect)
    deadline = time.monotonic() + _LONGEST_SECONDS
    with under_load(opened) as load:
        while load.alive and time.monotonic() < deadline:
            written = sum(each.log.ended for each in strategies[:writers])
            read = sum(each.log.ended for each in strategies[writers:])
            if written >= scale.concurrent_operations and read >= _READS * scale.concurrent_operations:
                break
            time.sleep(_LOOK_SECONDS)
    for client in opened:
        if client.ended.unknown:
            raise Unknown(client.ended.unknown)
