"""Exports a measurement to pytest-benchmark, for its JSON, table, comparisons and histograms.

pytest-benchmark times calls of one function. A round of load is many operations of many concurrent clients for a fixed time, and is
measured elsewhere. What is exported is the mean time per operation, 1 / throughput, so that `OPS` is the throughput, and the statistics
are those of the rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_benchmark.stats import Metadata

if TYPE_CHECKING:
    import pytest
    from pytest_benchmark.fixture import BenchmarkFixture

    from storeproof.result.measurement import Measurement


def export(config: pytest.Config, benchmark: BenchmarkFixture, store: str, measured: Measurement) -> None:
    """Add the rounds and their attributes. `store`: the target as the command line names it."""
    latency = measured.latency_us
    benchmark.group = "storeproof"
    benchmark.extra_info.update(
        store=store,
        workload=measured.workload,
        model=measured.model,
        operation=measured.operation,
        indexes=measured.indexes,
        clients=measured.clients,
        pipeline=measured.pipeline,
        rate=measured.rate or 0,
        record=measured.record,
        batch=measured.batch,
        engine=measured.engine,
        verified=measured.verified,
        latency_us={"p50": latency.p50, "p95": latency.p95, "p99": latency.p99, "p999": latency.p999, "max": latency.max},
    )
    stats: Any = Metadata(benchmark, iterations=1, options={"timer": "seconds_per_operation"})  # type: ignore[no-untyped-call]
    for each in measured.rounds:
        stats.update(1 / each.throughput)
    config._benchmarksession.benchmarks.append(stats)  # type: ignore[attr-defined]
