"""What an operation costs the server is shown, and why a figure is missing; and where stores and load generator ran."""

from __future__ import annotations

import pytest

from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.resources.server_cost import about_costs, costs
from storeproof.report.tables import placement, workloads
from storeproof.result.machine import Placement
from storeproof.result.model import Result
from storeproof.result.server_cost import ServerCost
from tests.report.sample import TARGETS, sample_environment, sample_result

COST = ServerCost(
    cpu_us=12.5,
    written_bytes=4200.4,
    syncs=0.25,
    resident_bytes=64 << 20,
    disk_bytes=3 << 20,
    records=1000,
    resident_per_record=67108.9,
    disk_per_record=3145.7,
    unknown={},
)
UNSEEN = COST.model_copy(update={"written_bytes": None, "syncs": None, "unknown": {"syncs": "it is nfs", "written_bytes": "it is nfs"}})
GIVEN = Placement(server=[0, 1], generator=[2, 3], shared="", memory_bytes=8 << 30)


def with_costs(*found: ServerCost | None, reason: str = "") -> Result:
    """The first workload of as many stores, with these costs."""
    result = sample_result(TARGETS[: len(found)])
    stores = [
        store.model_copy(
            update={"measurements": [store.measurements[0].model_copy(update={"cost": cost, "cost_reason": "" if cost else reason})]}
        )
        for store, cost in zip(result.stores, found, strict=True)
    ]
    return result.model_copy(update={"stores": stores, "environment": sample_environment(placement=GIVEN)})


def shown(result: Result) -> list[list[str]]:
    (measured,) = workloads(result).values()
    table = costs(measured)
    assert table is not None
    assert {len(row) for row in table.rows} == {len(table.header)}
    return [[cell.text for cell in row[5:]] for row in table.rows]


def test_each_store_has_a_row() -> None:
    """Per operation, and per record."""
    assert shown(with_costs(COST)) == [["12.5 µs", "4.102 KiB", "0.25", "64 MiB", "65.54 KiB", "3 MiB", "3.072 KiB"]]


def test_what_is_missing_has_its_reason_below() -> None:
    """A dash, and one line that says why: for a figure, and for a store of which nothing is known."""
    result = with_costs(COST, UNSEEN, None, reason="it is an endpoint")
    assert [row[:3] for row in shown(result)] == [["12.5 µs", "4.102 KiB", "0.25"], ["12.5 µs", "–", "–"], ["–", "–", "–"]]
    (measured,) = workloads(result).values()
    assert about_costs(measured) == (
        "What an operation costs the server; redis:aof-always: syncs / operation, written / operation: it is nfs; "
        "redis:volatile: it is an endpoint:"
    )


@pytest.mark.usefixtures("undrawn")
def test_both_reports_have_it() -> None:
    """And neither where nothing is known, as in older results."""
    result = with_costs(COST, UNSEEN)
    for text in (render_markdown(result), render_html(result)):
        assert "counted over the measured rounds alone" in text
        assert "CPU / operation" in text
        assert "4.102 KiB" in text
        assert "it is nfs" in text
        assert "2 cores (0, 1); load generator: 2 cores (2, 3)" in text
    plain = sample_result(TARGETS[:1])
    for text in (render_markdown(plain), render_html(plain)):
        assert "CPU / operation" not in text
        assert "counted over the measured rounds" not in text
        assert "cores of each store" not in text


def test_where_they_ran_in_words() -> None:
    """With the reason where they shared cores; nothing for a result that does not say."""
    shared = Placement(server=[0, 1], generator=[0, 1], shared="2 cores: client and server share them")
    assert placement(sample_environment(placement=shared)) == [
        (
            "cores of each store while it is measured",
            "2 cores (0, 1); load generator: 2 cores (0, 1) (2 cores: client and server share them)",
        ),
        ("memory of each store", "not limited"),
    ]
    assert placement(sample_environment(placement=GIVEN))[1] == ("memory of each store", "8 GiB")
    assert placement(sample_environment()) == []
