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
    """Requests per second of an open loop; 0: a closed loop."""
    record: Variation = AS_IT_IS
    series: bool = False
    """Whether it is one of a series, by clients, records, pipelines or rates."""

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
        return f"performance.{self.name}"

    @property
    def load(self) -> tuple[object, ...]:
        """What tells one load from another; stores and numbers of indexes are compared, block by block, with the same one."""
        return (self.workload.workload, self.record.name, self.pipeline, self.clients, self.rate)

    @property
    def data(self) -> tuple[object, ...]:
        """What tells records from others: loads of any clients and rates take turns on the same, if their workload adds and removes none.

        New records are numbered by their clients, so that those of few and of many clients would be drawn from differently.
        """
        return self.load[:3] if self.workload.keeps_records else self.load


def configs(workload: Workload, scale: PerformanceScale) -> Iterator[BenchmarkConfig]:
    """All that a scale has of a workload. Those that differ in the number of indexes alone follow each other, since they are measured
    together."""
    clients = getattr(scale, workload.clients)
    rates = scale.rates if workload.loop == "open" else (0,)
    series = max(len(clients), len(workload.pipelines), len(rates), len(workload.records)) > 1
    for number, pipeline, rate, record, indexes in product(clients, workload.pipelines, rates, workload.records, workload.indexes):
        yield BenchmarkConfig(workload, indexes, number, pipeline, rate, record, series)
