"""A start with an empty front: how long until the hit rate is what it was, and what readers wait meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from random import Random
from time import monotonic_ns
from typing import Final

from storeproof.contract import Unknown
from storeproof.experiments.client import Client, open_clients, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.performance.caches.hit_rate import MODEL
from storeproof.experiments.performance.caches.reads import Loaded, Read, Reads, hit_rate, load
from storeproof.experiments.performance.open_loop_client import OpenLoop
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.machine.cores import running_on
from storeproof.records.distributions import make_draw, sequential
from storeproof.result.measured.cache import ColdStartRecord, HitBin
from storeproof.spec.store import FRONT
from storeproof.stats.latency import nearest_rank_us
from storeproof.stats.unavailability import SECOND
from storeproof.store_under_test import StoreUnderTest
from storeproof.units import micros

_MOST: Final = 2000
"""Records, of the scale's; each of the model's size."""
_BYTES: Final = 1000
_WINDOW: Final = 200
"""Reads whose hit rate is compared with that before."""
_POINTS: Final = 0.05
_LONGEST: Final = 60.0
"""Seconds that it may take."""
_BEFORE: Final = 400
"""Reads before the restart, at least."""
_BIN: Final = SECOND // 2
_LOOK: Final = 0.5
"""Seconds between two looks, which take time from the clients."""


@dataclass(frozen=True)
class ColdStart:
    record: ColdStartRecord
    wrong: Sequence[str]

    def sentence(self) -> str:
        """The hit rates, the time, and the response times."""
        each = self.record
        back = "not back" if each.back_seconds is None else f"back after {each.back_seconds:.1f} s"
        return (
            f"hit rate {each.hit_rate_before:.1%} before the restart, {each.hit_rate_first:.1%} of the first reads after it, {back}, "
            f"with {each.home_reads:,} reads of the home; p99 {micros(each.p99_before_us)} before, {micros(each.p99_us)} meanwhile, "
            f"at {each.rate} reads/s"
        )


class _Load:
    """Clients that read at a fixed rate until the end of the block."""

    def __init__(self, sut: StoreUnderTest, handle: Handle, loaded: Loaded, name: str) -> None:
        self._readers: list[Reads] = []
        self._pacings: list[OpenLoop] = []
        self._ended = 0
        self._number = sut.scale.durability.clients
        self._connect = lambda: sut.connect(handle)
        self._loaded = loaded
        self._rate = sut.scale.performance.outage.rate
        self._seed = f"{sut.seed} {sut.target.named} {name}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """All of them, each with its own schedule. Raises `Unknown` if one of them lost its connection."""
        clients = open_clients(self._number, self._client)
        with under_load(clients):
            yield
        self._ended = monotonic_ns()
        if lost := sum(client.unknown for client in clients):
            raise Unknown(f"{lost} reads had no answer")

    @property
    def reads(self) -> list[Read]:
        """Reads answered so far, in the order of their answers."""
        return sorted((read for each in self._readers for read in list(each.noted)), key=lambda read: read.answered)

    @property
    def wrong(self) -> list[str]:
        return [wrong for each in self._readers for wrong in each.wrong]

    def p99_us(self, until: int | None = None) -> float | None:
        """Of the requests that were due until a moment, from when they were due. Those that were not sent by the end took until then."""
        due = [each for pacing in self._pacings for each in pacing.requests if until is None or each.due <= until]
        return nearest_rank_us([self._ended - each.due if each.response is None else each.response for each in due], 0.99)

    def _client(self) -> Client:
        seed = f"{self._seed} {len(self._readers)}"
        self._readers.append(Reads(self._loaded, make_draw("zipf", len(self._loaded.keys), Random(seed))))
        self._pacings.append(OpenLoop(self._rate / self._number, f"{seed}:gaps"))
        return Client(self._connect, self._readers[-1], self._pacings[-1])


def start_cold(sut: StoreUnderTest) -> ColdStart:
    """Fill the front, read, kill it, start it, and read until the hit rate is back.

    Raises:
        NotAvailable: the front cannot be killed here.
        Unknown: too few reads had an answer to tell a hit rate.
    """
    with closing(sut.launch("a start with an empty front")) as handle, running_on(sut.options.split.apart):
        if lacking := handle.cannot(FaultMeans.KILL_NODES):
            raise lacking
        with closing(sut.connect(handle)) as session:
            loaded = load(session, sut.layout(MODEL), min(sut.scale.performance.records, _MOST), _BYTES)
        _fill_front(sut, handle, loaded)
        before = _Load(sut, handle, loaded, "before")
        sut.progress("cache.cold_start · before")
        with before.running():
            wait_until(lambda: len(before.reads) >= _BEFORE, _LONGEST, _LOOK)
        _require(before, _BEFORE)
        handle.kill_nodes([FRONT])
        handle.start()
        usual = hit_rate(before.reads)
        after = _Load(sut, handle, loaded, "after")
        sut.progress("cache.cold_start · after")
        with after.running():
            wait_until(lambda: back_at(after.reads, usual - _POINTS) is not None, _LONGEST, _LOOK)
        _require(after, _WINDOW)
    reads = after.reads
    back = back_at(reads, usual - _POINTS)
    began = min(each.sent for each in reads)
    cold = [each for each in reads if back is None or each.answered <= back]
    record = ColdStartRecord(
        records=len(loaded.keys),
        clients=sut.scale.durability.clients,
        rate=sut.scale.performance.outage.rate,
        hit_rate_before=usual,
        hit_rate_first=hit_rate(reads[:_WINDOW]),
        back_seconds=None if back is None else (back - began) / SECOND,
        home_reads=sum(not each.hit for each in cold),
        p99_before_us=before.p99_us(),
        p99_us=after.p99_us(back),
        bins=_bins(reads, began),
    )
    return ColdStart(record, before.wrong + after.wrong)


def back_at(reads: Sequence[Read], wanted: float) -> int | None:
    """When the hit rate was back: the answer of the last of the first `_WINDOW` reads in a row of which so large a share were hits.

    `reads`: in the order of their answers.
    """
    hits = sum(each.hit for each in reads[:_WINDOW])
    for last in range(_WINDOW, len(reads) + 1):
        if last > _WINDOW:
            hits += reads[last - 1].hit - reads[last - 1 - _WINDOW].hit
        if hits >= wanted * _WINDOW:
            return reads[last - 1].answered
    return None


def _fill_front(sut: StoreUnderTest, handle: Handle, loaded: Loaded) -> None:
    reader = Reads(loaded, sequential(len(loaded.keys)), len(loaded.keys))
    with closing(sut.connect(handle)) as session:
        reader.use(session)
        while not reader.exhausted:
            reader.request()


def _require(load: _Load, reads: int) -> None:
    if (found := len(load.reads)) < reads:
        raise Unknown(f"{found} reads had an answer in {_LONGEST:.0f} s, too few to tell a hit rate ({reads})")


def _bins(reads: Sequence[Read], began: int) -> list[HitBin]:
    parts: dict[int, list[Read]] = {}
    for each in reads:
        parts.setdefault((each.sent - began) // _BIN, []).append(each)
    return [
        HitBin(second=number * _BIN / SECOND, reads=len(part), hits=sum(each.hit for each in part))
        for number, part in sorted(parts.items())
    ]
