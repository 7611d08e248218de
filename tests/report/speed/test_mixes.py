"""The operations of a mix are shown each by itself, and so is the corpus that was loaded."""

from __future__ import annotations

import pytest

from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.speed import numbers
from storeproof.report.speed.table import operations_of
from storeproof.report.tables import workloads
from storeproof.result.measurement import Latency, MixPart
from storeproof.result.model import CorpusUsed, Result
from tests.report.sample import TARGETS, sample_result

TIMES = Latency(mean=73.0, p50=71.0, p95=90.0, p99=None, p999=None, max=444.0, samples=1234)


def _with_parts() -> Result:
    result = sample_result(TARGETS[:1])
    mixed = [
        MixPart(name="search", operation="find", records=1234, errors=0, misses=3, latency_us=TIMES),
        MixPart(name="delete", operation="delete", records=20, errors=0, misses=0, latency_us=TIMES),
    ]
    store = result.stores[0]
    measured = store.measurements[0].model_copy(update={"parts": mixed, "corpus": "dewiki.xml (59 pages, 0123456789ab)"})
    changed = store.model_copy(update={"measurements": [measured, *store.measurements[1:]]})
    used = CorpusUsed(name="dewiki.xml", language="de", pages=59, skipped_pages=7, checksum="0123456789abcdef" * 4)
    run = result.run.model_copy(update={"corpus": [used]})
    return result.model_copy(update={"stores": [changed, *result.stores[1:]], "run": run})


def test_each_operation_has_a_row() -> None:
    """A mixed workload has a table with a row for each of its operations."""
    measured = next(iter(workloads(_with_parts()).values()))
    table = operations_of(measured)
    assert table is not None
    shown = [[cell.text for cell in row] for row in table.rows]
    assert [(row[0], row[5], row[6], row[7], row[-2]) for row in shown] == [
        ("search (find)", "1,234", "73 µs", "71 µs", "3"),
        ("delete", "20", "73 µs", "71 µs", "0"),
    ]
    assert {len(row) for row in shown} == {len(table.header)}
    assert [row[-1] for row in shown] == [numbers.at_least(measured[0][1]) + numbers.mark(measured[0][1])] * 2


def test_a_workload_of_one_operation_has_no_such_table() -> None:
    """A workload of one operation has none."""
    assert all(operations_of(measured) is None for measured in workloads(sample_result()).values())


@pytest.mark.usefixtures("undrawn")
def test_both_reports_have_it() -> None:
    """HTML and Markdown show the operations and the corpus of a mixed workload, and neither where there is none."""
    result = _with_parts()
    for text in (render_markdown(result), render_html(result)):
        assert "Each operation by itself:" in text
        assert "search (find)" in text
        assert "corpus dewiki.xml (59 pages, 0123456789ab)" in text
        assert "59 articles, SHA-256 0123456789ab" in text
    plain = sample_result(TARGETS[:1])
    for text in (render_markdown(plain), render_html(plain)):
        assert "Each operation by itself" not in text
        assert "corpus" not in text.lower()
