"""Costs are the reader's prices times what was measured."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.result.needs.costs import SECONDS_PER_MONTH, Cost
from storeproof.spec.questions.needs import NeedsFile
from tests.result.claimed import around, number
from tests.result.needs.needed import decided, known, needs

COST: dict[str, Any] = {
    "cpu_us": 20.0,
    "written_bytes": 100.0,
    "syncs": 1.0,
    "resident_bytes": 2_000_000,
    "disk_bytes": None,
    "records": 1000,
    "resident_per_record": 2000.0,
    "disk_per_record": None,
    "unknown": {"disk_bytes": "it keeps no files"},
}


def priced(target: str = "redis:volatile", **changed: Any) -> Cost:
    """A role of 10,000 gets a second over a million records, on machines of four cores for 120 a month."""
    file = needs(load={"mix": [{"operation": "get"}], "rate": 10_000}, records=1_000_000).model_dump(by_alias=True)
    file |= {"machine": {"cores": 4, "memory": "8GiB"}, "costs": {"host_per_month": 120, "licence_per_month": {"mongodb": 500}}}
    decision = decided(NeedsFile.model_validate(file), known(target, number("single-get", *around(20_000), **{"cost": COST} | changed)))
    return decision.candidates[0].costs[0]


def test_processor_time_costs_its_share_of_a_machine() -> None:
    """20 µs at 10,000 a second keep a fifth of a core busy, of four cores for 120."""
    found = priced()
    assert found.cores == pytest.approx(0.2)
    assert found.per_month == pytest.approx(120 / 4 * 0.2)
    assert found.per_million == pytest.approx(20 * 120 / (4 * SECONDS_PER_MONTH))
    assert (found.memory_bytes, found.disk_bytes) == (2e9, None)


def test_a_licence_is_the_stores_own() -> None:
    """Prices are the reader's; without one there is none."""
    assert priced("mongodb:journaled").licence_per_month == 500
    assert priced().licence_per_month == 0


def test_without_a_measured_cost_there_is_none_and_the_reason() -> None:
    """Never a guess."""
    unknown = priced(cost=None, cost_reason="an endpoint's processes are out of reach")
    assert (unknown.per_month, unknown.unknown) == (None, "an endpoint's processes are out of reach")
    assert priced(cost=None).unknown == "the result is of a format that has no cost of an operation"
