"""Latency by percentile: one panel for each proven durability, one line a store. The tail is what an average hides."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import FixedLocator, NullLocator

from storeproof import units
from storeproof.report.axes import Pair, axis_of, typical
from storeproof.report.pictures.drawing import RUNGS, TIME, Lines, Plot, logarithmic, panels, proven, series_of, styled, svg
from storeproof.result.measurement import Measurement
from storeproof.stats.intervals import SAMPLES_BEYOND
from storeproof.stats.latency import decode

_MARKS = {1: "0", 2: "50", 10: "90", 100: "99", 1000: "99.9", 10_000: "99.99"}
"""Percentiles by the share of slower requests: one in N."""
_POINTS = 40


def curves(measured: Sequence[Pair], title: str, lines: Lines) -> Plot | None:
    """The curves of one workload, or of what is typical of a series. None where nothing has enough samples."""
    ends = typical(measured)
    drawn: dict[str, tuple[str, list[tuple[float, float]]]] = {}
    for name, pairs in series_of(measured).items():
        drawn[name] = (proven(pairs[0]), next((_points(pair[1]) for pair in pairs if pair in ends), []))
    rungs = [rung for rung in RUNGS if any(points and durability == rung for durability, points in drawn.values())]
    if not rungs:
        return None
    with styled():
        figure, places = panels(len(rungs))
        first = None
        for rung, place in zip(rungs, places, strict=True):
            axes = figure.add_axes(place, sharey=first)
            first = first or axes
            for name, (durability, points) in drawn.items():
                if points and durability == rung:
                    axes.plot(*zip(*points, strict=True), **{**lines.style(name), "marker": ""})
            axes.set_title(rung, fontsize=9, loc="left", y=1.01)
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(FixedLocator(list(_MARKS)))
            axes.set_xticklabels(list(_MARKS.values()), fontsize=8)
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("percentile", fontsize=8, labelpad=1)
            logarithmic(axes, TIME)
            axes.tick_params(axis="y", labelsize=8)
            axes.grid()
        told = "; ".join(
            f"{name} ({durability}): from {units.micros(points[0][1])} to {units.micros(points[-1][1])}"
            for name, (durability, points) in drawn.items()
            if points
        )
        axis = axis_of(measured)
        at = f"{units.short(axis.of(ends[0][1]))} {axis.name}"
        return Plot(svg(figure, f"curves-{measured[0][1].workload}"), f"{title}, {at}: latency by percentile: {told}")


def _points(measured: Measurement) -> list[tuple[float, float]]:
    """(N, microseconds): one request in N is slower; as far as there are samples above."""
    histogram = decode(measured.histogram)
    last = histogram.get_total_count() / SAMPLES_BEYOND
    if last < 2:
        return []
    steps = [last ** (number / _POINTS) for number in range(_POINTS + 1)]
    values = histogram.get_percentile_to_value_dict([100 * (1 - 1 / step) for step in steps])  # in one pass, in this order
    return [(step, value / 1000) for step, value in zip(steps, values.values(), strict=True)]
