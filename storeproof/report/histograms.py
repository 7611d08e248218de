"""Writes the latencies as an HdrHistogram log, format 1.3, which the plotters and analysers of HdrHistogram read.

Values are nanoseconds. Each line is one measurement: all its rounds merged, tagged `store:variant/workload/indexes/clients`, and what else
it was measured with.
"""

from __future__ import annotations

from storeproof.report import formatting
from storeproof.result.model import Result


def render_histograms(result: Result) -> str:
    lines = [
        f"#[storeproof run {result.run.id}, started {result.run.started}; values in nanoseconds]",
        "#[Histogram log format version 1.3]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    begin = 0.0
    for store in result.stores:
        for each in store.measurements:
            length = sum(one.seconds for one in each.rounds)
            more = filter(None, [each.record, f"{each.pipeline}p" if each.pipeline > 1 else "", f"{each.rate:g}r" if each.rate else ""])
            tag = "/".join([formatting.name_of(store), each.workload, f"{each.indexes}i", f"{each.clients}c", *more])
            # Interval_Max is in milliseconds by the format's convention; the stamps only keep the lines apart.
            lines.append(f"Tag={tag},{begin:.3f},{length:.3f},{each.latency_us.max / 1000:.3f},{each.histogram}")
            begin += length
    return "\n".join(lines) + "\n"
