"""What the front of a composite store does for reads. The numbers are of one Python process, and compare with each other only."""

from __future__ import annotations

import pytest

from storeproof.experiments.performance.caches.cold_start import start_cold
from storeproof.experiments.performance.caches.dogpile import count_dogpiles
from storeproof.experiments.performance.caches.hit_rate import MODEL, SHARES, FrontSize, measure_hit_rates
from storeproof.experiments.performance.loaded_collection import require_proof
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
from storeproof.spec.store import Caching
from storeproof.store_under_test import StoreUnderTest

_OPERATIONS = ("put", "get")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each size of the front; at a scale that leaves workloads out, one of them unless it is named."""
    if "size" in metafunc.fixturenames:
        scale = suite_run(metafunc.config).options.scale.performance
        cases = []
        for number, size in enumerate(("half", *(each for each in SHARES if each != "half"))):
            beyond = scale.workloads != "all" and number > 0
            case = pytest.mark.case(id=f"cache.hit_rate/{size}", model=MODEL, beyond_scale=beyond)
            cases.append(pytest.param(size, id=size, marks=case))
        metafunc.parametrize("size", cases)


def test_hit_rate(sut: StoreUnderTest, case_result: CaseResult, size: FrontSize) -> None:
    """Reads of random keys, uniform and by Zipf's law, with a front that has room for a part of the records; every answer must be right."""
    require_proof(sut, MODEL, _OPERATIONS)
    found = measure_hit_rates(sut, size)
    assert not found.wrong, found.wrong[0]
    sut.record.cache.hit_rates.extend(found.records)
    case_result.add(found.sentence())


@pytest.mark.case(id="cache.cold_start", model=MODEL)
def test_cold_start(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The front is killed and starts again; readers go on at a fixed rate until the hit rate is back. Every answer must be right."""
    require_proof(sut, MODEL, _OPERATIONS)
    found = start_cold(sut)
    assert not found.wrong, found.wrong[0]
    sut.record.cache.cold_starts.append(found.record)
    case_result.add(found.sentence())


@pytest.mark.case(id="cache.dogpile", model=MODEL)
def test_dogpile(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """A hot key expires under load. With a policy that has one client fill a copy, one read reaches the home."""
    require_proof(sut, MODEL, _OPERATIONS)
    found = count_dogpiles(sut)
    assert not found.wrong, found.wrong[0]
    sut.record.cache.dogpiles.append(found.record)
    case_result.add(found.sentence())
    caching = Caching.of(sut.target.configuration.options)
    if caching.one_fills:  # the median: a copy may also expire by itself
        assert found.record.home_reads_median <= 1, f"{caching.policy} lets one client fill a copy, but {found.sentence()}"
