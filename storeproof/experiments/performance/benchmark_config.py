"""The configurations in which a workload is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from storeproof.spec import Workload
from storeproof.spec.scale import PerformanceScale
from storeproof.spec.variation import AS_IT_IS, Variation


@dataclass(frozen=True)
class BenchmarkConfig:
    """A workload, and what it is measured with: each of these is a measurement of its own."""

    workload: Workload
    indexes: int
    clients: int
    pipeline: int = 1
    rate: int = 0
    """Of an open loop, in requests per second; 0: a closed loop."""
    record: Variation = AS_IT_IS

    @property
    def name(self) -> str:
        """As ids of cases have it."""
        more = (
            f"{self.pipeline}p" if self.workload.pipelines != (1,) else "",
            f"{self.rate}r" if self.rate else "",
            self.record.name,
        )
        return "/".join(filter(None, (self.workload.workload, f"{self.indexes}i", f"{self.clients}c", *more)))

    @property
    def case(self) -> str:
        """The id of its case."""
        return f"performance.{self.name}"


def configs(workload: Workload, scale: PerformanceScale) -> Iterator[BenchmarkConfig]:
    """All that a scale has of a workload."""
    clients = getattr(scale, workload.clients)
    rates = scale.rates if workload.loop == "open" else (0,)
    for chosen in product(workload.indexes, clients, workload.pipelines, rates, workload.records):
        yield BenchmarkConfig(workload, *chosen)
