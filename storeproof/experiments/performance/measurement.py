"""One number: the rounds of all its laps, and the record that the result keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import median
from typing import Final

from hdrh.histogram import HdrHistogram

from storeproof.experiments.performance.surroundings import Surroundings
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.load.engine import OperationCounts, RunResult, label, operation_name
from storeproof.load.quality.audit import Audit
from storeproof.load.quality.gates import GateJudgement, invalid_by, is_lower_bound, judge_rounds
from storeproof.result import measurement as recorded
from storeproof.result.part import Gate
from storeproof.spec import Mix
from storeproof.stats.intervals import Estimate, estimate, grade, percentile
from storeproof.stats.latency import encode, mean, merged
from storeproof.stats.trend import Trend, trend

_IN_SIGHT: Final = 0.2
"""Probability of a trend under which the rounds go on: what drifts would be called precise if they ended early enough."""


class Number:
    """The number of one store in one configuration."""

    def __init__(self, laps: Sequence[WorkloadRunner]) -> None:
        """`laps`: what ran the rounds of each, at least one."""
        self._laps = laps
        self._last = laps[-1]

    @property
    def rounds(self) -> list[RunResult]:
        """All that were measured so far, in their order."""
        return [each for one in self._laps for each in one.rounds]

    @property
    def laps(self) -> list[int]:
        """How many of them each lap has."""
        return [len(one.rounds) for one in self._laps]

    @property
    def rate(self) -> Estimate:
        """Successful records a second: the median over the rounds so far, with its interval."""
        return estimate([each.throughput for each in self.rounds])

    @property
    def trend(self) -> Trend:
        return trend([each.throughput for each in self.rounds], self.laps)

    def precise(self, laps: int = 1) -> bool:
        """Whether the interval is as narrow as the scale wants it, or will be when all laps have as many rounds as the last one has, and no
        trend is in sight that more rounds might show. `laps`: how many there are to be."""
        config, wanted = self._last.config, self._last.scale.rounds
        expected = self.rate.half_interval * sqrt(len(self._laps) / laps)
        return expected <= (wanted.series if config.series else wanted.headline) and self.trend.probability > _IN_SIGHT

    def measurement(
        self, audited: Audit, interleaved_with: Sequence[str], further: Mapping[str, GateJudgement] | None = None
    ) -> recorded.Measurement:
        """What the result keeps.

        Args:
            audited: the data of all laps.
            interleaved_with: the stores whose rounds alternated with these.
            further: gates beside those of its own rounds.
        """
        last, rounds = self._last, self.rounds
        assert last.engine is not None
        assert last.ceiling is not None
        config, workload = last.config, last.config.workload
        rate, drift = self.rate, self.trend
        every = [operation for each in rounds for operation in each.operations.values()]
        latency = _waiting_times(every)
        gates = judge_rounds(rounds, pipeline=config.pipeline, ceiling=last.ceiling.rate) | dict(further or {})
        failing = [name for name, gate in gates.items() if not gate.ok]
        return recorded.Measurement(
            workload=workload.workload,
            kind=workload.kind,
            title=workload.title,
            model=workload.model,
            record=config.record.name,
            operation="+".join(label(mix) for mix in workload.mix),
            indexes=last.layout.indexes,
            batch=max(mix.batch for mix in workload.mix),
            clients=config.clients,
            pipeline=config.pipeline,
            engine=last.engine.name,
            engine_reason=last.engine_reason,
            threads=last.threads,
            hosts=max(len(each.hosts) for each in rounds) or 1,
            ceiling=last.ceiling.rate,
            ceiling_reason=last.ceiling.reason,
            load_model=workload.loop,
            rate=config.rate or None,
            loaded=last.loaded,
            payload_bytes=last.payload_bytes,
            corpus=last.corpus,
            rounds=[
                recorded.RoundNumbers(
                    seconds=each.seconds, operations=each.ok, throughput=each.throughput, errors=each.errors, misses=each.misses
                )
                for each in rounds
            ],
            laps=self.laps,
            interleaved_with=list(interleaved_with),
            throughput=recorded.Interval(median=rate.median, low=rate.low, high=rate.high, unit="operations/s"),
            latency_us=_latency(latency),
            service_us=_latency(merged(each.latency for each in every)) if config.rate else None,
            schedule_lag_us=_latency(merged(each.schedule_lag for each in rounds if each.schedule_lag)) if config.rate else None,
            missed_sends=sum(each.missed_sends for each in rounds),
            parts=[self._part(mix) for mix in workload.mix] if len(workload.mix) > 1 else [],
            errors=sum(each.errors for each in rounds),
            misses=sum(each.misses for each in rounds),
            gates={name: Gate(ok=each.ok, value=each.value, limit=each.limit) for name, each in gates.items()},
            verified=audited.ok,
            grade=grade(rate.half_interval),
            at_least=is_lower_bound(failing),
            disturbance=self._disturbance,
            machine_speed=self._machine_speed,
            trend=recorded.TrendRecord(change=drift.change, probability=drift.probability, drifting=drift.drifting),
            cost=last.cost.cost(sum(each.ok for each in last.rounds), last.records_left),
            cost_reason=last.cost.reason,
            invalid=invalid_by(failing, verified=audited.ok),
            histogram=encode(latency),
            anatomy=last.anatomy.anatomy(last.rounds, last.payload_bytes, closed=workload.loop == "closed"),
            anatomy_reason=last.anatomy.reason,
        )

    @property
    def _disturbance(self) -> recorded.Disturbance | None:
        shares = [each.others for each in self._beside if each.others is not None]
        if len(shares) < len(self.rounds):
            return None
        return recorded.Disturbance(
            share=median(shares), busy=sum(each.busy for each in self._beside), repeated=sum(each.busy for each in self._forgotten)
        )

    @property
    def _machine_speed(self) -> recorded.MachineSpeedRecord | None:
        speeds = [each.speed for each in self._beside if each.speed is not None]
        if 2 * len(speeds) < len(self.rounds):
            return None
        baseline = self._last.beside[-1].baseline  # the latest
        return recorded.MachineSpeedRecord(
            rate=median(speeds),
            baseline=baseline,
            slow=sum(each.slower_than(baseline) for each in self._beside),
            repeated=sum(not each.busy for each in self._forgotten),
        )

    @property
    def _beside(self) -> list[Surroundings]:
        return [each for one in self._laps for each in one.beside]

    @property
    def _forgotten(self) -> list[Surroundings]:
        return [each for one in self._laps for each in one.forgotten]

    def _part(self, mix: Mix) -> recorded.MixPart:
        found = [each.operations[label(mix)] for each in self.rounds]
        return recorded.MixPart(
            name=label(mix),
            operation=operation_name(mix),
            records=sum(each.ok for each in found),
            errors=sum(each.errors + each.malformed for each in found),
            misses=sum(each.misses for each in found),
            latency_us=_latency(_waiting_times(found)),
        )


def _waiting_times(operations: Sequence[OperationCounts]) -> HdrHistogram:
    """How long clients waited: in an open loop from when a request was due, in a closed one from when it was sent."""
    return merged(each.latency if each.response is None else each.response for each in operations)


def _latency(histogram: HdrHistogram) -> recorded.Latency:
    return recorded.Latency(
        mean=mean(histogram) / 1000 if histogram.get_total_count() else None,
        p50=percentile(histogram, 50),
        p95=percentile(histogram, 95),
        p99=percentile(histogram, 99),
        p999=percentile(histogram, 99.9),
        max=histogram.get_max_value() / 1000,
        samples=histogram.get_total_count(),
    )
