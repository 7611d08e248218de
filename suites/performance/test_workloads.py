"""How fast each workload is: measured only for what was correct in this run, and audited afterwards."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from storeproof.contract import Collection, Layout, Unknown, Unsupported, call, supports
from storeproof.contract.notation import arguments_from
from storeproof.load.ceiling import Ceilings
from storeproof.load.engine import StoreSilent, called, label
from storeproof.outcome import Outcome
from storeproof.plugin import RUN
from storeproof.plugin.verdict import Verdict
from storeproof.spec import Workload
from storeproof.spec.workload import fill_in
from storeproof.suites.conftest import Open
from storeproof.suites.performance.clock import CLOCK
from storeproof.suites.performance.conftest import EnginesHere, refuse_without_indexes
from storeproof.suites.performance.measurement import Measuring
from storeproof.suites.performance.ways import Way, ways
from storeproof.trial import Trial


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each way in which a workload is measured at the scale."""
    run = metafunc.config.stash[RUN]
    scale = run.options.scale.performance
    cases = []
    for workload in run.spec.workloads.values():
        for way in ways(workload, scale):
            case = pytest.mark.case(id=f"performance.{way.name}", workload=workload.workload, clients=way.clients)
            cases.append(pytest.param(way, id=way.name.replace("/", "-"), marks=case))
    metafunc.parametrize("way", cases)


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used at all")  # a case can be settled before its first round
@pytest.mark.benchmark(timer=CLOCK, group="storeproof")
def test_workload(
    trial: Trial,
    verdict: Verdict,
    fresh: Open,
    engines: EnginesHere,
    ceilings: Ceilings,
    benchmark: BenchmarkFixture,
    way: Way,
) -> None:
    """Warm up, measure in rounds, and read the data back: the rate counts only if the data is there, and whole."""
    if benchmark.disabled:
        verdict.settle(Outcome.EXCLUDED, "--benchmark-disable: not measured")
    workload = way.workload
    refuse_without_indexes(trial, verdict, way.indexes)
    collection, layout = fresh(workload.model, way.indexes, way.record)
    # First what the store cannot do: where it is all of an operation, nothing of it was verified either.
    _refuse_unsupported(verdict, collection, layout, workload)
    _refuse_unproven(trial, verdict, collection, workload)
    kept = collection.describe().get("indexes", "0")
    if kept != str(way.indexes):
        verdict.settle(Outcome.FAIL, f"{way.indexes} secondary indexes were asked for, and the store says it has {kept}")

    scale = trial.scale.performance
    try:
        measuring = Measuring(way, layout, scale, trial.seed, engines(), ceilings, trial.options.library.shelf)
        what = way.name
        trial.progress(f"{what}: loading and warming up")
        measuring.prepare()

        def run_round() -> None:
            trial.progress(f"{what}: round {len(measuring.rounds) + 1} of {scale.rounds}")
            measuring.run_round(CLOCK.advance)

        benchmark.pedantic(run_round, rounds=scale.rounds, iterations=1)  # type: ignore[no-untyped-call]
    except StoreSilent as silence:
        raise trial.mistrust(Unknown(str(silence))) from None

    audited = measuring.audit(collection)
    measured = measuring.measurement(audited)
    trial.record.measurements.append(measured)
    latency = measured.latency_us
    benchmark.extra_info.update(
        store=trial.target.id,
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
    verdict.add(f"{measured.throughput.median:.0f} operations/s")
    verdict.add(f"gates that failed: {', '.join(failing)}" if failing else "")
    verdict.add(f"through the store's client: {measured.engine_reason}" if measured.engine_reason else "")
    verdict.add("; ".join(dict.fromkeys(text for each in measuring.rounds for text in each.samples)))
    if not audited.ok:
        verdict.settle(Outcome.FAIL, "the audit after the rounds: " + "; ".join(audited.problems))


def _refuse_unproven(trial: Trial, verdict: Verdict, collection: Collection, workload: Workload) -> None:
    """No speed without proof: what was not correct in this run is not measured."""
    operations = list(dict.fromkeys(called(mix) for mix in workload.mix))
    for operation in operations:
        if not supports(collection, operation):
            verdict.settle(Outcome.UNSUPPORTED, f"{operation} on {workload.model}: the store's adapter does not offer it")
    for operation in operations:
        if reason := trial.record.unproven(workload.model, operation):
            verdict.settle(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it")


def _refuse_unsupported(verdict: Verdict, collection: Collection, layout: Layout, workload: Workload) -> None:
    """A store may answer requests, and still not those of this workload: each is asked once, with stand-ins for what will be drawn."""
    for mix in workload.mix:
        if mix.request is None:
            continue
        asked = arguments_from(layout.model, mix.operation, (fill_in(mix.request, lambda _name: "word"),))
        try:
            call(collection, layout, mix.operation, *asked)
        except Unsupported as reason:
            verdict.settle(Outcome.UNSUPPORTED, f"{label(mix)}: {reason}")
