"""Ratios in a report: beside each rate, in a table of all workloads, and of indexes; and the noise floor in words."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report import tables
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.speed import noise, ratios
from storeproof.report.speed.ratios import index_table
from storeproof.report.speed.table import speed
from storeproof.result.measurement import Measurement, RoundNumbers
from storeproof.result.model import Result
from storeproof.result.ratios.noise import KindNoise
from storeproof.stats.ratio import Ratio
from tests.report.sample import DRIFTING, TARGETS, sample_result
from tests.result.records import measured


def _number(level: float, **changed: Any) -> Measurement:
    rounds = [RoundNumbers(seconds=1, operations=1, throughput=level * factor, errors=0, misses=0) for factor in (0.99, 1, 1.01)]
    rate = measured().throughput.model_copy(update={"median": level, "low": 0.98 * level, "high": 1.02 * level})
    return measured().model_copy(update={"rounds": rounds, "throughput": rate, "grade": "A", **changed})


def _result(*numbers: list[Measurement]) -> Result:
    """A store for each list of numbers, all of one proven durability."""
    result = sample_result(TARGETS[: len(numbers)])
    stores = [
        store.model_copy(update={"measurements": each, "durability": store.durability.model_copy(update={"proven": "process_crash"})})
        for store, each in zip(result.stores, numbers, strict=True)
    ]
    return result.model_copy(update={"stores": stores})


def _texts(result: Result, against: str = "") -> list[str]:
    ((measured_by, every),) = tables.workloads(result).items()
    assert measured_by == "single-get"
    return [cell.text for cell in ratios.beside(result, every, against).cells]


def test_each_number_has_its_ratio_to_the_fastest() -> None:
    """In the column behind its interval; a difference that is none says so without colour."""
    result = _result([_number(500)], [_number(1000)], [_number(999)])
    assert _texts(result) == ["0.50× [0.49, 0.51]", "1 ◂", "1.00× [0.97, 1.03] ≈"]
    ((_, every),) = tables.workloads(result).items()
    table = speed(every, ratios.beside(result, every))
    column = list(table.header).index("to the fastest [95 %]")
    assert [row[column].text for row in table.rows] == _texts(result)
    assert {len(row) for row in table.rows} == {len(table.header)}


def test_ratios_are_to_a_store_that_is_named() -> None:
    """Above 1 is faster than it."""
    result = _result([_number(500)], [_number(1000)])
    assert _texts(result, "sqlite:wal-full") == ["1 ◂", "2.00× [1.94, 2.06]"]
    for page in (render_html(result, "sqlite:wal-full"), render_markdown(result, "sqlite:wal-full")):
        assert "Each number to that of sqlite:wal-full" in page


def test_a_lower_bound_is_an_inequality_and_what_has_no_rate_has_the_reason() -> None:
    """Below the table, with the store."""
    result = _result([_number(500)], [_number(1000, at_least=True)], [_number(700, at_least=True)])
    assert _texts(result) == ["≤ 0.50× [0.49, 0.51]", "1 ◂", "no ratio"]
    ((_, every),) = tables.workloads(result).items()
    reasons = ratios.beside(result, every).reasons
    assert reasons == (
        "No ratio: redis:volatile (50 clients, no index): the load generator was the limit on both sides, so either may be faster."
    )
    drifting = _result([_number(500, trend=DRIFTING)], [_number(1000)])
    for page in (render_html(drifting), render_markdown(drifting)):
        assert "sqlite:wal-full (50 clients, no index): sqlite:wal-full: drifting by" in page


def test_a_long_reason_is_cut_below_the_table_and_whole_at_the_ratio() -> None:
    """It stands below every table, and may be the description of a store's defect."""
    result = _result([_number(500, invalid=[f"gate{number}" for number in range(50)])], [_number(1000)])
    ((_, every),) = tables.workloads(result).items()
    found = ratios.beside(result, every)
    assert len(found.reasons) < 280
    assert found.reasons.endswith("….")
    assert found.cells[0].hint.endswith("gate49")


def test_the_matrix_shows_ratios_beside_rates() -> None:
    """A line for each workload; one store alone has none, and the rate of an open loop is what was offered."""
    result = _result([_number(500, invalid=["errors"])], [_number(1000)], [_number(700)])
    (row,) = ratios.matrix(result, tables.workloads(result)).rows
    assert [cell.text for cell in row] == [
        "single-get (50 clients)",
        "no ratio · 500/s ✘ errors",
        "1 ◂ · 1k/s A",
        "0.70× [0.68, 0.72] · 700/s A",
    ]
    alone = _result([_number(500)])
    assert ratios.matrix(alone, tables.workloads(alone)).rows == []
    opened = _result([_number(500, load_model="open", rate=500.0)], [_number(500, load_model="open", rate=500.0)])
    assert ratios.matrix(opened, tables.workloads(opened)).rows == []


def test_what_indexes_cost_is_a_table() -> None:
    """A column for each number of indexes, a dash where it was not measured."""
    result = _result([_number(1000), _number(800, indexes=1), _number(500, indexes=5)], [_number(1000), _number(990, indexes=1)])
    table = index_table(result)
    assert list(table.header)[4:] == ["1 index / none [95 %]", "5 indexes / none [95 %]"]
    assert [[cell.text for cell in row][4:] for row in table.rows] == [
        ["0.80× [0.80, 0.80]", "0.50× [0.50, 0.50]"],
        ["0.99× [0.99, 0.99] ≈", "–"],
    ]
    assert "What indexes cost" in render_html(result)
    assert "What indexes cost" not in render_html(_result([_number(1000)]))


@pytest.mark.parametrize(
    ("ratio", "bound", "text"),
    [
        (Ratio(0.0812, 0.0755, 0.0911), "", "0.08× [0.08, 0.09]"),
        (Ratio(1.4, 1.321, 1.478), "≥", "≥ 1.40× [1.32, 1.48]"),
        (Ratio(12.34, 9.994, 101.2), "≤", "≤ 12.3× [9.99, 101]"),
    ],
)
def test_a_ratio_has_the_digits_that_matter(ratio: Ratio, bound: Any, text: str) -> None:
    """And its sign before it."""
    assert ratios.ratio_text(ratio, bound) == text


def test_the_noise_floor_is_said_in_words() -> None:
    """Kinds with the same floor are said together; the shares are rounded up, so that what is below them is noise."""
    kinds = [KindNoise("scan", 0.1, 3, 8), KindNoise("value-read", 0.05, 3, 8), KindNoise("mixed", 0.0502, 3, 8)]
    assert noise.in_words(noise.floors_of(kinds)) == "differences below 7 % (value-read, mixed), 14 % (scan) are noise"
    assert noise.in_words(noise.floors_of(kinds[:1])) == "differences below 14 % are noise"
    assert noise.in_words({}) == ""
    assert noise.below(1.0901) == "10 %"
    assert noise.below(1.09) == "9 %"
    result = _result([_number(1000)], [_number(900)])
    for page in (render_html(result), render_markdown(result)):
        assert "Differences below 3 % are noise." in page
