"""Clients that read records by key, and note of each read whether the front answered it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic_ns

from storeproof.contract import Cached, Key, Layout, Record, Session, call
from storeproof.errors import NotAvailable
from storeproof.experiments.case_collections import fill
from storeproof.experiments.client import Strategy
from storeproof.history import RequestOutcome
from storeproof.outcome import Lack
from storeproof.records.distributions import Draw
from storeproof.records.keys import key_of
from storeproof.records.self_verifying import recipe, write_id

_LOADER = 0
"""The client of the write ids of loaded records."""
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Read:
    sent: int
    answered: int
    """Both in nanoseconds on one clock for all clients."""
    hit: bool
    """Whether the front had the record."""

    @property
    def took(self) -> int:
        """Nanoseconds."""
        return self.answered - self.sent


@dataclass(frozen=True)
class Loaded:
    """Records in a composite store, with the answers that are right."""

    layout: Layout
    records: Mapping[Key, Record]
    keys: Sequence[Key]


def load(session: Session, layout: Layout, number: int, size: int) -> Loaded:
    """Put as many values of `size` bytes into a new collection.
    Raises `NotAvailable`: the adapter does not say where reads are answered."""
    collection = session.collection(layout)
    if not isinstance(collection, Cached):
        raise NotAvailable("the adapter of this composite store does not count the reads that its layer sends to the home", lack=Lack.FRONT)
    collection.prepare()
    make = recipe(layout.model, size).make
    keys = [key_of(layout.model, each) for each in range(number)]
    records = {key: make(key, write_id(_LOADER, each)) for each, key in enumerate(keys)}
    fill(collection, layout, records, _BATCH)
    return Loaded(layout, records, keys)


class Reads(Strategy):
    """Gets of loaded records, in the order of a draw."""

    def __init__(self, loaded: Loaded, draw: Draw, most: int | None = None) -> None:
        """`most`: how many reads there are at most; None: as many as there is time for."""
        self._loaded = loaded
        self._draw = draw
        self._left = most
        self.noted: list[Read] = []
        """Reads that were answered."""
        self.wrong: list[str] = []
        """What was answered wrongly, in words."""
        self.hits = 0
        """Answered reads that the front answered."""
        self._read: Read | None = None

    @property
    def exhausted(self) -> bool:
        """Whether there were as many as there may be."""
        return self._left is not None and self._left <= 0

    def use(self, session: Session) -> None:
        collection = session.collection(self._loaded.layout)
        assert isinstance(collection, Cached)
        self._collection = collection

    def request(self) -> None:
        self._read = None
        if self._left is not None:
            self._left -= 1
        key = self._loaded.keys[self._draw()]
        before, sent = self._collection.home_reads, monotonic_ns()
        found = call(self._collection, self._loaded.layout, "get", key)
        answered = monotonic_ns()
        if found != self._loaded.records[key]:
            self.wrong.append(f"{key!r}: " + ("nothing" if found is None else "another record") + " in place of what was loaded")
        self._read = Read(sent, answered, self._collection.home_reads == before)

    def end(self, outcome: RequestOutcome) -> None:
        if outcome == "ok" and self._read is not None:
            self.noted.append(self._read)
            self.hits += self._read.hit


def hit_rate(reads: Sequence[Read]) -> float:
    """The share of the reads that the front answered; 0 without reads."""
    return sum(each.hit for each in reads) / len(reads) if reads else 0.0
