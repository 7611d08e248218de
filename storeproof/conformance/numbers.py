"""Computes the numbers again, from their rounds and histograms."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from hdrh.histogram import HdrHistogram

from storeproof.conformance.expected_cases import ExpectedCase
from storeproof.conformance.gate_values import wrong_gates
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.load.quality import gates
from storeproof.outcome import Outcome
from storeproof.printable import in_one_line
from storeproof.result.measured.case_records import SUBLINEAR, ScalingRecord
from storeproof.result.measurement import Latency, Measurement
from storeproof.result.model import StoreResult
from storeproof.spec import Scale
from storeproof.stats.intervals import Estimate, estimate, grade, percentile
from storeproof.stats.latency import decode, mean
from storeproof.stats.trend import trend

_EXACT = 1e-6
"""Share by which a figure may differ that was computed by another processor."""
_BUCKET = 2e-3
"""Share by which latencies differ within one bucket of a histogram: it has three significant digits."""
_LIMITS = {
    "errors": gates.ERRORS,
    "littles_law": gates.LITTLE,
    "schedule_lag": gates.LAG,
    "missed_send_ratio": gates.MISSING,
    "client_cpu": gates.CLIENT_CPU,
    "client_ceiling": gates.CEILING,
}
_MEASURED = (Outcome.PASS, Outcome.UNDECLARED)


def check_numbers(store: StoreResult, cases: dict[str, ExpectedCase], scale: Scale, loopback_us: float | None) -> int:
    """Compute all numbers again; how many there are. `loopback_us`: a round trip on the machine, if it was measured.

    Raises:
        ClaimRefused: one is not that of its rounds, its histogram or its gates, or of no case; or a case that passed has none.
    """
    measured: dict[str, Measurement] = {}
    for each in store.measurements:
        name = _case_of(each, cases)
        if name in measured:
            raise ClaimRefused(Reason.NUMBER, f"{name} has two numbers")
        measured[name] = each
        for reason, wrong in (*_of_case(each, cases[name]), *_wrong(each, scale, loopback_us)):
            raise ClaimRefused(reason, f"{name}: {wrong}")
    for outcome in store.outcomes:
        shown = outcome.outcome in _MEASURED
        if cases[outcome.id].config is not None and shown != (outcome.id in measured):
            raise ClaimRefused(Reason.NUMBER, f"{outcome.id} is {outcome.outcome}, and has {'no' if shown else 'a'} number")
    for scaling in store.scaling:
        _check_scaling(scaling)
    return len(measured)


def _case_of(measured: Measurement, cases: dict[str, ExpectedCase]) -> str:
    """The id of the case that it was measured for."""
    key = (measured.indexes, measured.clients, measured.pipeline, measured.rate or 0, measured.record)
    for name, case in cases.items():
        config = case.config
        if config is not None and config.workload.workload == measured.workload:
            wanted = (config.indexes, config.clients, config.pipeline, config.rate, config.record.name)
            if wanted == key:
                return name
    raise ClaimRefused(Reason.NUMBER, f"a number of {in_one_line(measured.workload, 60)} with {measured.clients} clients is of no case")


def _of_case(measured: Measurement, case: ExpectedCase) -> Iterator[tuple[Reason, str]]:
    """In what a number is called otherwise than the workload that it is of."""
    assert case.config is not None
    workload = case.config.workload
    wanted = {"kind": workload.kind, "title": workload.title, "model": workload.model, "load_model": workload.loop}
    for name, each in wanted.items():
        if (found := getattr(measured, name)) != each:
            yield Reason.NUMBER, f"its {name} is {in_one_line(str(found), 60)}, and that of its workload {each}"


def _wrong(measured: Measurement, scale: Scale, loopback_us: float | None) -> Iterator[tuple[Reason, str]]:
    rates = [each.throughput for each in measured.rounds]
    wanted = scale.performance.rounds
    if not wanted.at_least <= len(rates) <= wanted.at_most:
        yield Reason.NUMBER, f"it has {len(rates)} rounds, and at {scale.scale} scale {wanted.at_least} to {wanted.at_most}"
        return
    if min(rates) <= 0:
        yield Reason.NUMBER, "a round has no rate"
        return
    if measured.laps and min(measured.laps) < wanted.at_least:
        yield Reason.NUMBER, f"it has a lap of {min(measured.laps)}, and at {scale.scale} scale {wanted.at_least} or more"
        return
    made = estimate(rates)
    yield from ((Reason.NUMBER, wrong) for wrong in _of_rounds(measured, made))
    drift = trend(rates, measured.laps)
    if not _near(drift.change, measured.trend.change) or not _near(drift.probability, measured.trend.probability):
        yield Reason.NUMBER, f"its trend is {measured.trend.change:g} a round, and that of its rounds {drift.change:g}"
    if drift.drifting != measured.trend.drifting or grade(made.half_interval) != measured.grade:
        yield Reason.NUMBER, f"its grade is {measured.grade}, and by its rounds {grade(made.half_interval)}"
    yield from ((Reason.NUMBER, wrong) for wrong in _of_gates(measured))
    yield from ((Reason.NUMBER, wrong) for wrong in wrong_gates(measured, loopback_us))
    yield from ((Reason.HISTOGRAM, wrong) for wrong in _of_latency(measured))


def _of_rounds(measured: Measurement, made: Estimate) -> Iterator[str]:
    for name in ("median", "low", "high"):
        says, shows = getattr(measured.throughput, name), getattr(made, name)
        if not _near(says, shows):
            yield f"the {name} is {says:g}, and that of its rounds {shows:g}"
    for number, each in enumerate(measured.rounds, 1):
        if not _near(each.throughput * each.seconds, each.operations):
            yield f"round {number} has {each.operations} operations in {each.seconds:g} s, and says {each.throughput:g} a second"
    for name in ("errors", "misses"):
        total = sum(getattr(each, name) for each in measured.rounds)
        if getattr(measured, name) != total:
            yield f"it has {getattr(measured, name)} {name}, and its rounds {total}"
    done = sum(each.operations for each in measured.rounds)
    if measured.parts and sum(each.records for each in measured.parts) != done:
        yield f"its rounds have {done} operations, and the parts of its mix {sum(each.records for each in measured.parts)}"


def _of_gates(measured: Measurement) -> Iterator[str]:
    wanted = {"errors", "littles_law"} | ({"client_cpu"} if measured.load_model == "closed" else {"schedule_lag", "missed_send_ratio"})
    wanted |= {"client_ceiling"} if measured.ceiling is not None else set()
    if wanted != measured.gates.keys():
        yield f"it has the gates {', '.join(measured.gates)}; wanted: {', '.join(sorted(wanted))}"
        return
    for name, gate in measured.gates.items():
        if gate.limit != _LIMITS[name] or gate.ok != (gate.value <= gate.limit):
            yield f"the gate {name} is {'passed' if gate.ok else 'failed'} with {gate.value:g} at a limit of {gate.limit:g}"
    failing = [name for name, gate in measured.gates.items() if not gate.ok]
    if measured.at_least != gates.is_lower_bound(failing) or measured.invalid != gates.invalid_by(failing, verified=measured.verified):
        yield f"it is {'a lower bound' if measured.at_least else 'no lower bound'}, invalid by {measured.invalid}; its gates say otherwise"
    asked = measured.errors + measured.latency_us.samples
    if asked and not _near(measured.gates["errors"].value, measured.errors / asked):
        yield f"the gate errors has {measured.gates['errors'].value:g}, and {measured.errors} of {asked} requests failed"


def _of_latency(measured: Measurement) -> Iterator[str]:
    histogram = decode(measured.histogram)
    for name, says, shows in _percentiles(measured.latency_us, histogram):
        if (says is None) != (shows is None) or (says is not None and shows is not None and not isclose(says, shows, rel_tol=_BUCKET)):
            yield f"its {name} is {says} us, and {shows} by its histogram"
    samples, done = histogram.get_total_count(), sum(each.operations for each in measured.rounds)
    if measured.latency_us.samples != samples:
        yield f"it has {measured.latency_us.samples} latencies, and its histogram {samples}"
    if measured.batch == 1 and samples != done:
        yield f"its histogram has {samples} requests, and its rounds {done}"
    if measured.parts and sum(each.latency_us.samples for each in measured.parts) != samples:
        yield f"its histogram has {samples} requests, and the parts of its mix have others"


def _percentiles(latency: Latency, histogram: HdrHistogram) -> Iterator[tuple[str, float | None, float | None]]:
    yield "p50", latency.p50, percentile(histogram, 50)
    yield "p95", latency.p95, percentile(histogram, 95)
    yield "p99", latency.p99, percentile(histogram, 99)
    yield "p999", latency.p999, percentile(histogram, 99.9)
    yield "maximum", latency.max, histogram.get_max_value() / 1000
    yield "mean", latency.mean, mean(histogram) / 1000


def _check_scaling(scaling: ScalingRecord) -> None:
    times = list(scaling.seconds.values())
    if len(times) < 2 or min(times) <= 0 or not _near(scaling.factor, times[-1] / times[0]):
        raise ClaimRefused(Reason.NUMBER, f"the factor of {in_one_line(scaling.capability, 60)} is not that of its times")
    if scaling.sublinear != (scaling.factor < SUBLINEAR):
        what = f"sublinear={scaling.sublinear} with a factor of {scaling.factor:g}"
        raise ClaimRefused(Reason.NUMBER, f"{in_one_line(scaling.capability, 60)} is called {what}")


def _near(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=_EXACT, abs_tol=1e-12)
