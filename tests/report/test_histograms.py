"""The latency log is read by HdrHistogram's own reader."""

from __future__ import annotations

from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from storeproof.report.histograms import render_histograms
from tests.report.sample import TARGETS, sample_result


def test_every_measurement_is_a_line_that_the_library_reads(tmp_path: Path) -> None:
    """The values come back as they were recorded."""
    recorded = HdrHistogram(1, 60_000_000_000, 3)
    for value in (1_000, 2_000, 4_000_000):
        recorded.record_value(value)
    result = sample_result(TARGETS[:1])
    store = result.stores[0]
    measurements = [each.model_copy(update={"histogram": recorded.encode().decode()}) for each in store.measurements]
    log = tmp_path / "latency.hlog"
    log.write_text(render_histograms(result.model_copy(update={"stores": [store.model_copy(update={"measurements": measurements})]})))
    reader = HistogramLogReader(str(log), HdrHistogram(1, 60_000_000_000, 3))
    found = []
    while (histogram := reader.get_next_interval_histogram()) is not None:
        found.append(histogram)
    reader.close()
    assert len(found) == len(measurements)
    assert {each.get_total_count() for each in found} == {3}
    assert found[0].get_tag() == "sqlite:wal-full/single-put-distinct-90/0i/50c"
