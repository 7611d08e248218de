"""The hit rate of a front with limited memory: reads of random keys, once it is as full as it gets."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Final, Literal, get_args

from storeproof.errors import NotAvailable
from storeproof.experiments.client import Client, open_clients
from storeproof.experiments.contended_keys import work_together
from storeproof.experiments.performance.caches.reads import Loaded, Reads, load
from storeproof.launch.handle import Handle
from storeproof.machine.cores import running_on
from storeproof.outcome import Lack
from storeproof.records.distributions import make_draw
from storeproof.result.measured.cache import HitRateRecord
from storeproof.stats.latency import nearest_rank_us
from storeproof.stats.unavailability import SECOND
from storeproof.store_under_test import StoreUnderTest
from storeproof.units import micros

MODEL: Final = "single_key"

FrontSize = Literal["quarter", "half", "all"]
SHARES: Final[Mapping[FrontSize, float]] = MappingProxyType({"quarter": 0.25, "half": 0.5, "all": 4.0})
"""The memory of the front, as a share of the payload. With four times as much it has room for everything: a server needs more than the
payload."""

Distribution = Literal["uniform", "zipf"]

_RECORDS: Final = 1000
_BYTES: Final = 20_000
"""Of a value. 20 MB in all: the megabyte that an empty front takes by itself is then a small part of its memory."""
_WARM_UP: Final = 2
_MEASURED: Final = 3
"""Reads for each record: before the measurement, so that the front has what it keeps, and in it."""


@dataclass
class HitRates:
    """What was measured with one size of the front."""

    records: list[HitRateRecord] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Wrong answers, in words."""

    def sentence(self) -> str:
        return "; ".join(
            f"{each.distribution}: {each.hit_rate:.1%} of {each.reads:,} reads, {each.rate:,.0f} reads/s, "
            f"p50 {micros(each.p50_us)}, p99 {micros(each.p99_us)}"
            for each in self.records
        )


def measure_hit_rates(sut: StoreUnderTest, size: FrontSize) -> HitRates:
    """Load values and read them, by each distribution.

    Raises:
        NotAvailable: the store's file does not say how the memory of its front is limited.
        Unknown: a client lost its connection.
    """
    composite = sut.target.store.launch.composite
    if composite is None or not composite.front_memory:
        raise NotAvailable(
            f"the file of {sut.target.store.name} does not say how the memory of its front is limited",
            "add `launch.composite.front_memory`",
            Lack.FRONT,
        )
    payload = _RECORDS * _BYTES
    memory = round(payload * SHARES[size])
    found = HitRates()
    handle = sut.launch(f"a front with {memory // 1_000_000} MB", front_bytes=memory)
    with closing(handle), running_on(sut.options.split.apart):
        with closing(sut.connect(handle)) as session:
            loaded = load(session, sut.layout(MODEL), _RECORDS, _BYTES)
        for distribution in get_args(Distribution):
            sut.progress(f"cache.hit_rate/{size} · {distribution}")
            _read(sut, handle, loaded, distribution, _WARM_UP)
            clients = _read(sut, handle, loaded, distribution, _MEASURED)
            found.wrong += [wrong for each in clients for wrong in each.wrong]
            reads = [read for each in clients for read in each.noted]
            seconds = (max(each.answered for each in reads) - min(each.sent for each in reads)) / SECOND
            took = [each.took for each in reads]
            p50, p99 = nearest_rank_us(took, 0.5), nearest_rank_us(took, 0.99)
            assert p50 is not None  # there were reads
            assert p99 is not None
            found.records.append(
                HitRateRecord(
                    front=size,
                    front_bytes=memory,
                    payload_bytes=payload,
                    records=_RECORDS,
                    distribution=distribution,
                    clients=len(clients),
                    reads=len(reads),
                    hits=sum(each.hit for each in reads),
                    rate=len(reads) / seconds,
                    p50_us=p50,
                    p99_us=p99,
                )
            )
    return found


def _read(sut: StoreUnderTest, handle: Handle, loaded: Loaded, distribution: Distribution, times: int) -> list[Reads]:
    """As many reads for each record, by all clients together."""
    number = sut.scale.durability.clients
    readers: list[Reads] = []

    def connect() -> Client:
        rng = Random(f"{sut.seed} {sut.target.named} {distribution} {times} {len(readers)}")
        readers.append(Reads(loaded, make_draw(distribution, _RECORDS, rng), times * _RECORDS // number))
        return Client(lambda: sut.connect(handle), readers[-1])

    work_together(open_clients(number, connect))
    return readers
