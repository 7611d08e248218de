"""A server of a composite store does not answer for a while, or the links to one or both are cut. Clients give up, and try again.

What they gave up may be carried out later. No acknowledged write may be missing in the home, whatever the variant guarantees, since no
server ends; and no read may return what was replaced, unless the variant says that reads may be stale. With `write-behind` an interruption
of the home is excepted: what the layer gave up there it gives the home again, and what arrives late may be older than that.
"""

from __future__ import annotations

import pytest

from storeproof.experiments.run_interruption import run_interruption
from storeproof.faults.interruption import Way
from storeproof.plugin.suite import suite_run
from storeproof.result.measured.case_records import StaleReadCounts
from storeproof.result.running_case import CaseResult
from storeproof.spec.store import FRONT, HOME, ROLES, Caching, Role
from storeproof.store_under_test import StoreUnderTest

_CASES: tuple[tuple[str, tuple[Role, ...], Way], ...] = (
    ("durability.front_pause", (FRONT,), "pause"),
    ("durability.home_pause", (HOME,), "pause"),
    ("durability.front_link/reset", (FRONT,), "reset"),
    ("durability.front_link/hang", (FRONT,), "hang"),
    ("durability.home_link/reset", (HOME,), "reset"),
    ("durability.home_link/hang", (HOME,), "hang"),
    ("durability.both_links/reset", ROLES, "reset"),
    ("durability.both_links/hang", ROLES, "hang"),
)


_LONG = ("durability.home_pause", "durability.both_links/reset", "durability.both_links/hang")
"""A scale that leaves workloads out leaves these out too, unless they are named: the other cases show most of what they show."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each interruption."""
    some = suite_run(metafunc.config).options.scale.performance.workloads != "all"
    cases = []
    for case, roles, way in _CASES:
        mark = pytest.mark.case(id=case, beyond_scale=some and case in _LONG)
        cases.append(pytest.param(case, roles, way, id=_named(case), marks=mark))
    metafunc.parametrize(("case", "roles", "way"), cases)


def test_interruption(sut: StoreUnderTest, case_result: CaseResult, case: str, roles: tuple[Role, ...], way: Way) -> None:
    """Clients read and write many keys; what they gave up is delivered after each key was written again, and then each is read."""
    summary = run_interruption(sut, roles, way, case)
    case_result.again = sut.command(_named(case))
    home_first = Caching.of(sut.target.configuration.options).home_first
    case_result.stale_reads = StaleReadCounts.of(summary.reads, summary.ages_ms) if summary.reads else None
    summary.report(case_result, claimed=home_first or HOME not in roles)


def _named(case: str) -> str:
    return case.partition(".")[2].replace("/", "-")
