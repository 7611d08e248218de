"""What the front of a composite store did is in tables, in both reports, and only where there is one."""

from __future__ import annotations

import pytest

from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.speed import caches
from storeproof.report.tables import Table
from storeproof.result.measured.cache import CacheRecord, ColdStartRecord, DogpileRecord, HitBin, HitRateRecord
from storeproof.result.model import Result
from tests.report.sample import TARGETS, sample_result

CACHE = CacheRecord(
    hit_rates=[
        HitRateRecord(
            front="half",
            front_bytes=10_000_000,
            payload_bytes=20_000_000,
            records=2000,
            distribution="zipf",
            clients=8,
            reads=6000,
            hits=4000,
            rate=2500.4,
            p50_us=1500.0,
            p99_us=9000.0,
        )
    ],
    cold_starts=[
        ColdStartRecord(
            records=500,
            clients=8,
            rate=400,
            hit_rate_before=1.0,
            hit_rate_first=0.31,
            back_seconds=7.4,
            home_reads=480,
            p99_before_us=2000.0,
            p99_us=6000.0,
            bins=[HitBin(second=0.0, reads=200, hits=62)],
        )
    ],
    dogpiles=[DogpileRecord(clients=8, expiries=20, home_reads_median=5.5, home_reads_most=8, p99_us=7000.0, p99_otherwise_us=3000.0)],
)


def result_of(cache: CacheRecord) -> Result:
    """The sample, with the cache of its first store."""
    result = sample_result(TARGETS[:1])
    return result.model_copy(update={"stores": [result.stores[0].model_copy(update={"cache": cache}), *result.stores[1:]]})


def texts(table: Table) -> list[str]:
    """Of the only row, which has a cell for each column."""
    (row,) = table.rows
    assert len(row) == len(table.header)
    return [cell.text for cell in row]


def test_each_number_has_its_column() -> None:
    """A row for each measurement."""
    some = result_of(CACHE)
    assert texts(caches.hit_rates(some)) == [
        "sqlite:wal-full", "9.537 MiB for 19.07 MiB", "zipf", "66.7%", "2,500", "1.5 ms", "9 ms", "6,000",
    ]  # fmt: skip
    assert texts(caches.cold_starts(some)) == [
        "sqlite:wal-full", "100.0%", "31.0%", "7.4 s", "480", "2 ms", "6 ms", "400/s, 500 records",
    ]  # fmt: skip
    assert texts(caches.dogpiles(some)) == ["sqlite:wal-full", "5.5", "8", "7 ms", "3 ms", "20 expiries, 8 clients"]


def test_a_hit_rate_that_did_not_come_back_is_marked() -> None:
    """It is no number."""
    unseen = CACHE.cold_starts[0].model_copy(update={"back_seconds": None})
    (row,) = caches.cold_starts(result_of(CACHE.model_copy(update={"cold_starts": [unseen]}))).rows
    assert (row[3].text, row[3].tone) == ("not seen", "open")


@pytest.mark.usefixtures("undrawn")
def test_both_reports_have_it() -> None:
    """A run without composite stores has no such section."""
    some, none = result_of(CACHE), sample_result(TARGETS[:1])
    for render in (render_html, render_markdown):
        for text in ("What the cache does", "Hit rate", "Cold start", "Dogpile", "9.537 MiB for 19.07 MiB"):
            assert text in render(some)
        assert "What the cache does" not in render(none)


def test_it_survives_the_file() -> None:
    """It is the same after it was written and read."""
    assert Result.model_validate_json(result_of(CACHE).model_dump_json()).stores[0].cache == CACHE
