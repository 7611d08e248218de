"""What the front of a composite store does for reads. The numbers are of one Python process, and compare with each other only."""

from __future__ import annotations

import pytest

from storeproof.experiments.performance.caches.cold_start import start_cold
from storeproof.experiments.performance.caches.dogpile import count_dogpiles
from storeproof.experiments.performance.caches.hit_rate import MODEL, SHARES, FrontSize, measure_hit_rates
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest

_ONE_READS: tuple[str, ...] = ("read-through", "write-through")
"""The policies with which one client fills a copy, and all others wait for it."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each size of the front; at a scale that leaves workloads out, one of them unless it is named."""
    if "size" in metafunc.fixturenames:
        scale = suite_run(metafunc.config).options.scale.performance
        cases = []
        for number, size in enumerate(("half", *(each for each in SHARES if each != "half"))):
            beyond = scale.workloads != "all" and number > 0
            case = pytest.mark.case(id=f"cache.hit_rate/{size}", model=MODEL, composite=True, beyond_scale=beyond)
            cases.append(pytest.param(size, id=size, marks=case))
        metafunc.parametrize("size", cases)


def test_hit_rate(sut: StoreUnderTest, case_result: CaseResult, size: FrontSize) -> None:
    """Reads of random keys, uniform and zipfian, with a front that has room for a part of the records; every answer must be right."""
    _require_proof(sut, case_result)
    found = measure_hit_rates(sut, size)
    sut.record.cache.hit_rates.extend(found.records)
    case_result.add(found.sentence())
    assert not found.wrong, found.wrong[0]


@pytest.mark.case(id="cache.cold_start", model=MODEL, composite=True)
def test_cold_start(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The front is killed and starts again; readers go on at a fixed rate until the hit rate is back. Every answer must be right."""
    _require_proof(sut, case_result)
    found = start_cold(sut)
    sut.record.cache.cold_starts.append(found.record)
    case_result.add(found.sentence())
    assert not found.wrong, found.wrong[0]


@pytest.mark.case(id="cache.dogpile", model=MODEL, composite=True)
def test_dogpile(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """A hot key expires under load. With a policy that has one client fill a copy, one read reaches the home."""
    _require_proof(sut, case_result)
    found = count_dogpiles(sut)
    sut.record.cache.dogpiles.append(found.record)
    case_result.add(found.sentence())
    assert not found.wrong, found.wrong[0]
    policy = sut.target.configuration.options["policy"]
    if policy in _ONE_READS:  # the median: a copy may also expire by itself
        assert found.record.home_reads_median <= 1, f"{policy} lets one client fill a copy, but {found.sentence()}"


def _require_proof(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """No speed without proof, as for workloads."""
    if MODEL not in sut.target.store.claims.models:
        case_result.settle(Outcome.UNSUPPORTED, f"the store does not claim the model {MODEL}")
    for operation in ("put", "get"):
        if reason := sut.record.unproven(MODEL, operation):
            case_result.settle(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it, or cite a run that did (--proof)")
