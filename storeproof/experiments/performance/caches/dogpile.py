"""A dogpile: a hot key expires under load, and every client that misses it asks the home. How many do?"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from storeproof.contract import Cached
from storeproof.experiments.client import Client, open_clients, raise_unknown, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.performance.caches.hit_rate import MODEL
from storeproof.experiments.performance.caches.reads import Read, Reads, load
from storeproof.machine.cores import running_on
from storeproof.result.measured.cache import DogpileRecord
from storeproof.stats.latency import nearest_rank_us
from storeproof.stats.unavailability import SECOND
from storeproof.store_under_test import StoreUnderTest
from storeproof.units import micros

_BYTES: Final = 1000
_EXPIRIES: Final = 20
_CALM: Final = 300
"""Reads that the front answers before the next expiry, by all clients together."""
_LONGEST: Final = 10.0
"""Seconds that this may take."""
_AROUND: Final = SECOND // 50
_LOOK: Final = 0.002


@dataclass
class Dogpile:
    clients: int
    home_reads: list[int] = field(default_factory=list)
    """Reads that reached the home, after each expiry."""
    near: list[int] = field(default_factory=list)
    """Nanoseconds that reads took which were answered soon after an expiry."""
    far: list[int] = field(default_factory=list)
    """Response times of the other reads."""
    wrong: list[str] = field(default_factory=list)

    def add(self, reads: Iterable[Read], moments: Sequence[int]) -> None:
        """Add reads of the key, which expired at these moments, in ascending order. What was read before the first does not count."""
        self.home_reads += [0] * len(moments)
        for read in reads:
            expiry = bisect_right(moments, read.answered) - 1
            if expiry < 0:
                continue
            self.home_reads[expiry] += not read.hit
            (self.near if read.answered < moments[expiry] + _AROUND else self.far).append(read.took)

    @property
    def record(self) -> DogpileRecord:
        return DogpileRecord(
            clients=self.clients,
            expiries=len(self.home_reads),
            home_reads_median=median(self.home_reads),
            home_reads_most=max(self.home_reads),
            p99_us=nearest_rank_us(self.near, 0.99),
            p99_otherwise_us=nearest_rank_us(self.far, 0.99),
        )

    def sentence(self) -> str:
        """Reads of the home, and response times."""
        found = self.record
        return (
            f"{found.expiries} expiries of one key that {found.clients} clients read: {found.home_reads_median:g} reads of the home after "
            f"each in the median, {found.home_reads_most} at most; p99 {micros(found.p99_us)} around an expiry, "
            f"{micros(found.p99_otherwise_us)} otherwise"
        )


def count_dogpiles(sut: StoreUnderTest) -> Dogpile:
    """All clients read one key; its copy is removed, and they go on until the front answers again; many times.
    Raises `Unknown`: a client lost its connection."""
    number = sut.scale.durability.clients
    readers: list[Reads] = []
    moments: list[int] = []
    with closing(sut.launch("a hot key that expires")) as handle, running_on(sut.options.split.apart):
        with closing(sut.connect(handle)) as session:
            loaded = load(session, sut.layout(MODEL), 1, _BYTES)

        def connect() -> Client:
            readers.append(Reads(loaded, lambda: 0))
            return Client(lambda: sut.connect(handle), readers[-1])

        clients = open_clients(number, connect)
        with under_load(clients), closing(sut.connect(handle)) as session:
            collection = session.collection(loaded.layout)
            assert isinstance(collection, Cached)
            _wait_calm(readers)
            for expiry in range(_EXPIRIES):
                sut.progress(f"cache.dogpile · expiry {expiry + 1}/{_EXPIRIES}")
                moments.append(time.monotonic_ns())
                collection.drop_copy(loaded.keys[0])
                _wait_calm(readers)
        raise_unknown(clients)
    found = Dogpile(number, wrong=[wrong for each in readers for wrong in each.wrong])
    found.add([read for each in readers for read in each.noted], moments)
    return found


def _wait_calm(readers: Sequence[Reads]) -> None:
    """Wait until the front answers again."""
    wanted = sum(each.hits for each in readers) + _CALM
    wait_until(lambda: sum(each.hits for each in readers) >= wanted, _LONGEST, _LOOK)
