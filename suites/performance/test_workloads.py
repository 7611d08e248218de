"""How fast each workload is: measured only for what was correct in this run, and audited afterwards."""

from __future__ import annotations

import contextlib

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from storeproof.experiments.performance.benchmark_clock import CLOCK
from storeproof.experiments.performance.benchmark_config import Way, ways
from storeproof.experiments.performance.store_rounds import Interleaved
from storeproof.outcome import Outcome
from storeproof.plugin.stash import RUN
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each way in which a workload can be measured at the scale, also those that it measures only if `-k` names them."""
    run = metafunc.config.stash[RUN]
    scale = run.options.scale.performance
    cases = []
    for workload in run.spec.workloads.values():
        for number, way in enumerate(ways(workload, scale)):
            beyond = not scale.measures(workload.workload, first=number == 0)
            case = pytest.mark.case(id=way.case, workload=workload.workload, clients=way.clients, beyond_scale=beyond)
            cases.append(pytest.param(way, id=way.name.replace("/", "-"), marks=case))
    metafunc.parametrize("way", cases)


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used at all")  # a case can be settled before its first round
@pytest.mark.benchmark(timer=CLOCK, group="storeproof")
def test_workload(sut: StoreUnderTest, case_result: CaseResult, interleaved: Interleaved, benchmark: BenchmarkFixture, way: Way) -> None:
    """Warm up, measure in rounds, and read the data back: the rate counts only if the data is there, and whole."""
    if benchmark.disabled:
        case_result.settle(Outcome.EXCLUDED, "--benchmark-disable: not measured")
    with contextlib.closing(interleaved.turns(way, sut)) as turns:
        measuring, collection = turns.found()
        audited = measuring.audit(collection)
    measured = measuring.measurement(audited, turns.beside)
    rounds = iter(measured.rounds)
    benchmark.pedantic(lambda: CLOCK.advance(next(rounds).throughput), rounds=len(measured.rounds), iterations=1)  # type: ignore[no-untyped-call]
    sut.record.measurements.append(measured)
    latency = measured.latency_us
    benchmark.extra_info.update(
        store=sut.target.id,
        workload=measured.workload,
        model=measured.model,
        operation=measured.operation,
        indexes=way.indexes,
        clients=way.clients,
        pipeline=way.pipeline,
        rate=way.rate,
        record=measured.record,
        batch=measured.batch,
        engine=measured.engine,
        verified=measured.verified,
        latency_us={"p50": latency.p50, "p95": latency.p95, "p99": latency.p99, "p999": latency.p999, "max": latency.max},
    )
    failing = [f"{name} {gate.value:.3g} > {gate.limit:g}" for name, gate in measured.gates.items() if not gate.ok]
    case_result.add(f"{measured.throughput.median:.0f} operations/s")
    case_result.add(f"gates that failed: {', '.join(failing)}" if failing else "")
    case_result.add(f"through the store's client: {measured.engine_reason}" if measured.engine_reason else "")
    case_result.add("; ".join(dict.fromkeys(text for each in measuring.rounds for text in each.samples)))
    if not audited.ok:
        case_result.settle(Outcome.FAIL, "the audit after the rounds: " + "; ".join(audited.problems), audited.problems)
