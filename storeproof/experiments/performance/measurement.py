"""One measurement: warm-up, rounds, audit, and the record that the result keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final
from zlib import crc32

from hdrh.histogram import HdrHistogram

from storeproof.contract import Collection, Layout
from storeproof.contract.values import Key
from storeproof.corpus.articles import articles
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.load.hosts.hosts_engine import HostsEngine
from storeproof.load.hosts.load_hosts import LoadEngines
from storeproof.load.job import Engine, OperationCounts, Plan, Run, RunResult, label, operation_name
from storeproof.load.quality.audit import Audit, audit
from storeproof.load.quality.ceiling import Ceiling, Ceilings
from storeproof.load.quality.gates import Judgement, invalid_by, is_lower_bound, judge
from storeproof.load.quality.generator_threads import choose_threads
from storeproof.load.requests import Asked, requests
from storeproof.records.keys import form_of, greatest
from storeproof.records.self_verifying import payload_bytes
from storeproof.result.measurement import Interval, Latency, Measurement, MixPart, Round, TrendRecord
from storeproof.result.part import Gate
from storeproof.spec import Mix
from storeproof.spec.scale import PerformanceScale
from storeproof.stats.grade import grade
from storeproof.stats.intervals import Estimate, estimate, percentile
from storeproof.stats.latency import encode, mean, merged
from storeproof.stats.steady_state import WINDOWS, warm_up
from storeproof.stats.trend import Trend, trend

_IN_SIGHT: Final = 0.2
"""Probability of a trend under which the rounds go on: what drifts would be called precise if they ended early enough."""


@dataclass
class WorkloadRunner:
    """Runs one workload, round by round, on a collection that is prepared and empty."""

    config: BenchmarkConfig
    layout: Layout
    scale: PerformanceScale
    seed: int
    engines: LoadEngines
    ceilings: Ceilings
    article_store: Path | None = None
    """Imported articles, for a model whose texts are searched."""
    requests: tuple[Asked, ...] = ()
    """For each of the mix, what it asks."""
    most_threads: int = 1
    """That the wire engine may have."""
    threads: int = 1
    """That it has, in all measured rounds."""
    records: int | None = None
    """Records to preload in place of the scale's number, whatever bytes they have."""
    every: list[RunResult] = field(default_factory=list)
    """All rounds in the collection's life, warm-up included: the audit must know what they wrote."""
    rounds: list[RunResult] = field(default_factory=list)
    """Those that are measured."""
    engine: Engine | None = None
    """Chosen by `prepare`."""
    engine_reason: str = ""
    """Why it is not the wire engine."""
    ceiling: Ceiling | None = None
    """Of the engine, measured by `prepare`."""
    cost: CostMeter = field(default_factory=CostMeter)
    """What the measured rounds cost the server."""

    @property
    def plan(self) -> Plan:
        """The next round."""
        number = len(self.every)
        return Plan(
            layout=self.layout,
            mix=self.config.workload.mix,
            clients=self.config.clients,
            seconds=self.scale.round_seconds,
            seed=crc32(f"{self.seed}:{self.config.name}:{number}".encode()),
            known=self.loaded,
            number=number,
            positions=self.every[-1].positions if self.every else (),
            removed=self.every[-1].removed if self.every else (),
            indeterminate=frozenset(indeterminate for each in self.every for indeterminate in each.indeterminate),
            requests=self.requests,
            greatest=self._greatest,
            article_store=self._article_store,
            fixed_numbers=self.engine is not None and self.engine.fixed_numbers,
            pipeline=self.config.pipeline,
            threads=self.threads,
        )

    @property
    def _article_store(self) -> Path | None:
        return self.article_store if self.layout.model.text else None

    @cached_property
    def _bytes(self) -> int:
        """Of payload in a record."""
        return payload_bytes(self.layout.model, article_store=self._article_store)

    @property
    def _greatest(self) -> Key | None:
        scans = any(mix.operation == "scan" for mix in self.config.workload.mix)
        return greatest(form_of(self.layout.model), self.loaded) if scans else None

    @property
    def loaded(self) -> int:
        """Records that are there before the first request: as many as the workload says itself, or the command line, or the scale."""
        if not self.config.workload.preload:
            return 0
        asked = self.config.workload.preload_records or self.records
        return asked or min(self.scale.records, self.scale.data_bytes // self._bytes)

    @property
    def _records(self) -> int:
        """Records that are there after the last round."""
        return self.loaded + (sum(self.every[-1].positions) - sum(self.every[-1].removed) if self.every else 0)

    @property
    def _round_seconds(self) -> float:
        """As the scale says, or less where what is inserted meanwhile would come to more than it allows."""
        inserted = sum(self.every[-1].positions) - sum(self.every[-1].removed) if self.every else 0
        if inserted <= 0:
            return self.scale.round_seconds
        rate = inserted / sum(each.elapsed_seconds for each in self.every)
        return min(self.scale.round_seconds, self.scale.data_bytes / self.scale.rounds.at_most / (rate * self._bytes))

    def prepare(self) -> None:
        """Load the data and warm up.

        Raises:
            NotAvailable: the articles have nothing that the workload could ask for, the engine that is wanted cannot do it, or none can
                that has several requests of a client in flight.
        """
        model, plan = self.layout.model, self.plan
        if any(mix.request is not None for mix in plan.mix):
            texts = articles(plan.article_store)
            self.requests = tuple(requests(model, mix, texts, plan.known) for mix in plan.mix)
        self.engine, self.engine_reason = self.engines.choose(self.plan)
        if plan.pipeline > 1 and self.engine.name == "driver":
            raise NotAvailable(f"the store's client has one request in flight, and {self.engine_reason or 'no other engine was wanted'}")
        self.ceiling = self._ceiling_of(self.engine, self.plan)
        if self.config.workload.preload:
            self.engine.fill(self.layout, self.loaded, plan.article_store, self.engine.fixed_numbers)
        # In a closed loop in any case: the store then has done all that it does the first time it is asked to.
        warm_up(lambda seconds: _require_answers(self._run(seconds)).throughput, *self.scale.warm_up_seconds)
        if self.engine.name == "wire":
            self._choose_threads(self.engine)

    def _choose_threads(self, engine: Engine) -> None:
        def ceiling(threads: int) -> float | None:
            return self._ceiling_of(engine, replace(self.plan, threads=threads)).rate

        def run(threads: int) -> RunResult:
            self.threads = threads
            return self._run(self.scale.round_warm_up_seconds)

        self.threads = choose_threads(
            self.every[-WINDOWS:],
            run,
            ceiling,
            at_most=min(self.most_threads, self.config.clients),
            pipeline=self.config.pipeline,
            offered=self.config.rate,
        )
        if self.threads > 1:
            self.ceiling = self._ceiling_of(engine, self.plan)

    def _ceiling_of(self, engine: Engine, plan: Plan) -> Ceiling:
        return engine.ceiling(plan) if isinstance(engine, HostsEngine) else self.ceilings.of(engine, plan)

    def run_round(self) -> None:
        """One that is measured, after a warm-up that is not, and in which, in an open loop, nothing may be due."""
        self._run(self.scale.round_warm_up_seconds, self.config.rate)
        with self.cost.measured_round():
            found = self._run(self._round_seconds, self.config.rate)
        self.keep(found)

    def start(self, seconds: float, rate: float = 0.0, start_ns: int = 0) -> Run:
        """Begin a round, which `end` waits for before the next one begins. `rate` and `start_ns`: see `Plan`."""
        assert self.engine is not None
        return self.engine.start(replace(self.plan, seconds=seconds, rate=rate, start_ns=start_ns))

    def end(self, run: Run) -> RunResult:
        """Wait for the end of a round. Raises as `Run.join`."""
        result = run.join()
        self.every.append(result)
        return result

    def keep(self, found: RunResult) -> None:
        """Count a round among the measured ones."""
        self.rounds.append(_require_answers(found))

    @property
    def rate(self) -> Estimate:
        """Successful records a second: the median over the rounds so far, with its interval."""
        return estimate([each.throughput for each in self.rounds])

    @property
    def precise(self) -> bool:
        """Whether the interval is as narrow as the scale wants it, and no trend is in sight that more rounds might show."""
        wanted = self.scale.rounds.series if self.config.series else self.scale.rounds.headline
        return self.rate.half_interval <= wanted and self.trend.probability > _IN_SIGHT

    @property
    def trend(self) -> Trend:
        """Of the rounds so far."""
        return trend([each.throughput for each in self.rounds])

    def audit(self, collection: Collection) -> Audit:
        """Read the data back. The rounds are over."""
        self.cost.end()
        return audit(collection, self.plan, self.every, self.seed)

    def measurement(self, audited: Audit, interleaved_with: Sequence[str], further: Mapping[str, Judgement] | None = None) -> Measurement:
        """What the result keeps.

        Args:
            interleaved_with: the stores whose rounds alternated with these.
            further: gates beside those of its own rounds.
        """
        assert self.engine is not None
        assert self.ceiling is not None
        workload = self.config.workload
        rate, drift = self.rate, self.trend
        every = [operation for each in self.rounds for operation in each.operations.values()]
        latency = _waiting_times(every)
        gates = judge(self.rounds, pipeline=self.config.pipeline, ceiling=self.ceiling.rate) | dict(further or {})
        failing = [name for name, gate in gates.items() if not gate.ok]
        return Measurement(
            workload=workload.workload,
            kind=workload.kind,
            title=workload.title,
            model=workload.model,
            record=self.config.record.name,
            operation="+".join(label(mix) for mix in workload.mix),
            indexes=self.layout.indexes,
            batch=max(mix.batch for mix in workload.mix),
            clients=self.config.clients,
            pipeline=self.config.pipeline,
            engine=self.engine.name,
            engine_reason=self.engine_reason,
            threads=self.threads,
            hosts=max(len(each.hosts) for each in self.rounds) or 1,
            ceiling=self.ceiling.rate,
            ceiling_reason=self.ceiling.reason,
            load_model=workload.loop,
            rate=self.config.rate or None,
            loaded=self.loaded,
            payload_bytes=self._bytes,
            corpus=articles(self.plan.article_store).name if self.layout.model.text else None,
            rounds=[
                Round(seconds=each.seconds, operations=each.ok, throughput=each.throughput, errors=each.errors, misses=each.misses)
                for each in self.rounds
            ],
            interleaved_with=list(interleaved_with),
            throughput=Interval(median=rate.median, low=rate.low, high=rate.high, unit="operations/s"),
            latency_us=_latency(latency),
            service_us=_latency(merged(each.latency for each in every)) if self.config.rate else None,
            schedule_lag_us=_latency(merged(each.schedule_lag for each in self.rounds if each.schedule_lag)) if self.config.rate else None,
            missed_sends=sum(each.missed_sends for each in self.rounds),
            parts=[self._part(mix) for mix in workload.mix] if len(workload.mix) > 1 else [],
            errors=sum(each.errors for each in self.rounds),
            misses=sum(each.misses for each in self.rounds),
            gates={name: Gate(ok=each.ok, value=each.value, limit=each.limit) for name, each in gates.items()},
            verified=audited.ok,
            grade=grade(rate.half_interval),
            at_least=is_lower_bound(failing),
            trend=TrendRecord(change=drift.change, probability=drift.probability, drifting=drift.drifting),
            cost=self.cost.cost(sum(each.ok for each in self.rounds), self._records),
            cost_reason=self.cost.reason,
            invalid=invalid_by(failing, verified=audited.ok),
            histogram=encode(latency),
        )

    def _part(self, mix: Mix) -> MixPart:
        found = [each.operations[label(mix)] for each in self.rounds]
        return MixPart(
            name=label(mix),
            operation=operation_name(mix),
            records=sum(each.ok for each in found),
            errors=sum(each.errors + each.malformed for each in found),
            misses=sum(each.misses for each in found),
            latency_us=_latency(_waiting_times(found)),
        )

    def _run(self, seconds: float, rate: float = 0.0) -> RunResult:
        return self.end(self.start(seconds, rate))


def _require_answers(result: RunResult) -> RunResult:
    if not (result.ok or result.misses or result.errors):
        raise MachineFailed("not one request was answered in a round, and none failed", "repeat the run on a machine that is not busy")
    assert result.ok, f"of {result.misses} loaded records that were asked for, none was found"
    return result


def _waiting_times(operations: Sequence[OperationCounts]) -> HdrHistogram:
    """How long clients waited: in an open loop from when a request was due, in a closed one from when it was sent."""
    return merged(each.latency if each.response is None else each.response for each in operations)


def _latency(histogram: HdrHistogram) -> Latency:
    return Latency(
        mean=mean(histogram) / 1000 if histogram.get_total_count() else None,
        p50=percentile(histogram, 50),
        p95=percentile(histogram, 95),
        p99=percentile(histogram, 99),
        p999=percentile(histogram, 99.9),
        max=histogram.get_max_value() / 1000,
        samples=histogram.get_total_count(),
    )
