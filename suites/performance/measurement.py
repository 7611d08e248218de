"""One measurement: warm-up, rounds, audit, and the record that the result keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from zlib import crc32

from storeproof.contract import Collection, Layout
from storeproof.load.audit import Audit, audit
from storeproof.load.engine import Engine, Plan, RunResult, called
from storeproof.load.latency import encode, new_histogram
from storeproof.load.records import payload_bytes
from storeproof.load.statistics import estimate, percentile
from storeproof.load.steady import WarmUp, warm_up
from storeproof.load.validity import judge
from storeproof.result.model import Gate, Interval, Latency, Measurement, Round
from storeproof.spec import Workload
from storeproof.spec.scale import PerformanceScale


@dataclass
class Measuring:
    """Runs one workload, round by round, on a collection that is prepared and empty."""

    workload: Workload
    layout: Layout
    clients: int
    scale: PerformanceScale
    seed: int
    engine: Engine
    every: list[RunResult] = field(default_factory=list)
    """All rounds in the collection's life, warm-up included: the audit must know what they wrote."""
    rounds: list[RunResult] = field(default_factory=list)
    """Those that are measured."""
    warm: WarmUp | None = None

    @property
    def plan(self) -> Plan:
        """The next round."""
        number = len(self.every)
        return Plan(
            layout=self.layout,
            mix=self.workload.mix,
            clients=self.clients,
            seconds=self.scale.round_seconds,
            seed=crc32(f"{self.seed}:{self.workload.workload}:{self.layout.indexes}:{self.clients}:{number}".encode()),
            known=self.scale.records if self.workload.load else 0,
            number=number,
            positions=self.every[-1].positions if self.every else (),
        )

    def prepare(self) -> None:
        """Load the data and warm up."""
        if self.workload.load:
            self.engine.fill(self.layout, self.scale.records)
        self.warm = warm_up(lambda seconds: self._run(seconds).throughput, *self.scale.warm_up_seconds)

    def run_round(self, advance: Callable[[float], None]) -> None:
        """One measured round; `advance` is told its throughput."""
        result = self._run(self.scale.round_seconds)
        self.rounds.append(result)
        advance(result.throughput)

    def audit(self, collection: Collection) -> Audit:
        """Read the data back."""
        return audit(collection, self.plan, self.every, self.seed)

    def measurement(self, audited: Audit) -> Measurement:
        """What the result keeps."""
        assert self.warm is not None
        rate = estimate([each.throughput for each in self.rounds], self.seed)
        latency = new_histogram()
        for each in self.rounds:
            for operation in each.operations.values():
                latency.add(operation.latency)
        gates = judge(self.rounds, self.warm, rate)
        return Measurement(
            workload=self.workload.workload,
            title=self.workload.title,
            model=self.workload.model,
            operation="+".join(called(mix) for mix in self.workload.mix),
            indexes=self.layout.indexes,
            batch=max(mix.batch for mix in self.workload.mix),
            clients=self.clients,
            engine=self.engine.name,
            load_model="closed",
            payload_bytes=payload_bytes(self.layout.model),
            rounds=[
                Round(seconds=each.seconds, operations=each.ok, throughput=each.throughput, errors=each.errors, misses=each.misses)
                for each in self.rounds
            ],
            throughput=Interval(median=rate.median, low=rate.low, high=rate.high, unit="operations/s"),
            latency_us=Latency(
                p50=percentile(latency, 50),
                p95=percentile(latency, 95),
                p99=percentile(latency, 99),
                p999=percentile(latency, 99.9),
                max=latency.get_max_value() / 1000,
                samples=latency.get_total_count(),
            ),
            errors=sum(each.errors for each in self.rounds),
            misses=sum(each.misses for each in self.rounds),
            gates={name: Gate(ok=each.ok, value=each.value, limit=each.limit) for name, each in gates.items()},
            verified=audited.ok,
            histogram=encode(latency),
        )

    def _run(self, seconds: float) -> RunResult:
        result = self.engine.start(replace(self.plan, seconds=seconds)).join()
        self.every.append(result)
        assert result.ok, f"of {result.misses} loaded records that were asked for, none was found"
        return result
