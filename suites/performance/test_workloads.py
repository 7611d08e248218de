"""How fast each workload is: measured only for what was correct, in this run or in one that is cited, and audited afterwards."""

from __future__ import annotations

import contextlib

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from storeproof.experiments.performance.benchmark_config import BenchmarkConfig, configs
from storeproof.experiments.performance.interleaved_rounds import InterleavedRounds
from storeproof.outcome import Outcome
from storeproof.plugin.benchmark_export import export
from storeproof.plugin.suite import suite_run
from storeproof.report.speed.numbers import told
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each configuration in which a workload can be measured at the scale; those beyond it only where they are named."""
    run = suite_run(metafunc.config)
    scale = run.options.scale.performance
    cases = []
    for workload in run.spec.workloads.values():
        for number, config in enumerate(configs(workload, scale)):
            beyond = not scale.measures(workload.workload, first=number == 0)
            case = pytest.mark.case(id=config.case, workload=workload.workload, clients=config.clients, beyond_scale=beyond)
            cases.append(pytest.param(config, id=config.name.replace("/", "-"), marks=case))
    metafunc.parametrize("config", cases)


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used at all")  # it times no function: see storeproof.plugin.benchmark_export
def test_workload(
    sut: StoreUnderTest,
    case_result: CaseResult,
    interleaved: InterleavedRounds,
    request: pytest.FixtureRequest,
    benchmark: BenchmarkFixture,
    config: BenchmarkConfig,
) -> None:
    """Warm up, measure in rounds, and read the data back: the rate counts only if the data is there, and whole."""
    if benchmark.disabled:
        case_result.settle(Outcome.EXCLUDED, "--benchmark-disable: not measured")
    with contextlib.closing(interleaved.rounds_of(config, sut)) as rounds:
        case_result.elsewhere = rounds.elsewhere
        number, audited = rounds.result()
    measured = number.measurement(audited, rounds.interleaved_with)
    export(request.config, benchmark, sut.target.id, measured)
    sut.record.measurements.append(measured)
    case_result.add(told(measured))
    case_result.add(f"through the store's client: {measured.engine_reason}" if measured.engine_reason else "")
    case_result.add("; ".join(dict.fromkeys(text for each in number.rounds for text in each.samples)))
    if not audited.ok:
        case_result.settle(Outcome.FAIL, "the audit after the rounds: " + "; ".join(map(str, audited.problems)), audited.problems)
