"""Throughput as bars, and throughput and latency against what a series goes through as lines, of stores of one proven durability only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import Pair, axis_of, setting
from storeproof.report.pictures import drawing
from storeproof.report.speed import numbers

_BESIDE: Final = 1.2
"""How far beyond its first and last value a logarithmic axis goes, as a factor."""

_APART: Final = 0.17
"""From one label of an axis to the next, as a share of its length: four digits of eight points."""


_PERCENTILES: Final = (("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("p99.9", "p999"))


def is_sweep(measured: Sequence[Pair]) -> bool:
    """Whether a workload has enough points on its axis that a line says more than bars."""
    axis = axis_of(measured)
    return len({axis.of(each) for _, each in measured}) >= 3


_LETTER = 0.0122
"""The width of a label of bars, as a share of the figure's width."""


def bars(measured: Sequence[Pair], title: str) -> drawing.Plot:
    """Median throughput with its interval, one bar per store, number of indexes and clients, grouped by proven durability."""
    order = sorted(measured, key=lambda pair: list(drawing.RUNGS).index(drawing.proven(pair)))
    several_clients = len({each.clients for _, each in order}) > 1
    several_indexes = len({each.indexes for _, each in order}) > 1
    labels: list[str] = []
    above = None
    for store, each in order:
        details = [formatting.indexes(each.indexes)] if several_indexes else []
        details += [units.plural(each.clients, "client")] if several_clients else []
        details += filter(None, [setting(each)])
        labels.append(" · ".join(details if store is above else [formatting.name_of(store), *details]))
        above = store
    left = min(max(_LETTER * max(map(len, labels)), 0.3), 0.56)
    with drawing.styled():
        height = 0.3 + 0.24 * len(order)
        figure = Figure(figsize=(5.4, height))
        axes = figure.add_axes((left, 0.22 / height, 0.86 - left, 1 - 0.26 / height))
        widest = max(each.throughput.high for _, each in order)
        for row, pair in enumerate(order):
            each = pair[1]
            spread = each.throughput
            axes.barh(
                row, spread.median, height=0.72, color=drawing.RUNGS[drawing.proven(pair)], alpha=0.55 if each.indexes else 0.95,
                hatch="////" if each.invalid else None, edgecolor=drawing.GRID if each.invalid else "none", linewidth=0,
            )  # fmt: skip
            text = f"{numbers.at_least(each)}{units.short(spread.median)} {'✘' if each.invalid else numbers.mark(each)}"
            axes.text(max(spread.high, spread.median) + widest * 0.015, row, text, va="center", fontsize=8.5)
        axes.hlines(
            range(len(order)), [each.throughput.low for _, each in order], [each.throughput.high for _, each in order],
            color=drawing.INK, linewidth=1.2,
        )  # fmt: skip
        axes.set_yticks(range(len(order)), labels, fontsize=8.5)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlim(0, widest * 1.02 if widest else 1)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(drawing.SHORT)
        axes.tick_params(axis="x", labelsize=8)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.spines["bottom"].set_visible(False)
        told = "; ".join(
            f"{formatting.name_of(store)} ({formatting.indexes(each.indexes)}, {each.clients} clients, {drawing.proven((store, each))}) "
            f"{numbers.at_least(each)}{formatting.interval(each.throughput)} {numbers.mark(each)}"
            for store, each in order
        )
        return drawing.Plot(drawing.svg(figure, f"bars-{order[0][1].workload}"), f"{title}: median throughput with 95 % interval: {told}")


def sweep(measured: Sequence[Pair], durability: str, title: str, lines: drawing.Lines) -> drawing.Plot:
    """Throughput and latency against the workload's axis, one line per store, all of one proven durability.

    A hollow point is a lower bound, and a number that is not valid has a ✘ in its place. Results before format 2.1 have no average.
    """
    series = drawing.series_of(measured)
    axis = axis_of(measured)
    values = sorted({axis.of(each) for _, each in measured})
    with drawing.styled():
        figure = Figure(figsize=(11.2, 2.75))
        averaged = any(each.latency_us.mean is not None for _, each in measured)
        panels = [("throughput per second", None), *([("average", "mean")] if averaged else []), *_PERCENTILES]
        pitch = 0.99 / len(panels)
        shown = _with_room(values)
        for column, (heading, percentile) in enumerate(panels):
            axes = figure.add_axes((0.036 + column * pitch, 0.16, pitch - 0.04, 0.72))
            for name, pairs in series.items():
                points = sorted((each for _, each in pairs), key=axis.of)
                style = lines.style(name)
                if percentile is None:
                    spreads = [each.throughput for each in points]
                    places = [axis.of(each) for each in points]
                    axes.plot(places, [each.median for each in spreads], **{**style, "marker": ""})
                    axes.vlines(places, [each.low for each in spreads], [each.high for each in spreads], color=style["color"], linewidth=1)
                    for each in points:
                        axes.plot(axis.of(each), each.throughput.median, **drawing.point(each, style))
                else:
                    known = [(axis.of(each), getattr(each.latency_us, percentile)) for each in points]
                    known = [(at, latency) for at, latency in known if latency is not None]
                    axes.plot([at for at, _ in known], [latency for _, latency in known], **style)
            axes.set_title(heading, fontsize=9, loc="left", y=1.01)
            axes.set_xscale("log", base=2)
            axes.set_xticks(values, [_tick(value) if value in shown else "" for value in values], fontsize=8)
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlim(values[0] / _BESIDE, values[-1] * _BESIDE)
            axes.set_xlabel(axis.name, fontsize=8, labelpad=1)
            if percentile is None:
                axes.set_ylim(bottom=0)
                axes.yaxis.set_major_formatter(drawing.SHORT)
            elif axes.lines and any(len(line.get_xdata()) for line in axes.lines):  # type: ignore[arg-type]
                drawing.logarithmic(axes, drawing.TIME)
            else:
                axes.set_yticks([])
                axes.text(0.5, 0.5, "too few samples", transform=axes.transAxes, ha="center", fontsize=8)
            axes.tick_params(axis="y", labelsize=8)
            axes.grid()
        told = "; ".join(
            f"{name}: "
            + ", ".join(
                f"{units.short(axis.of(each))} {numbers.at_least(each)}{units.short(each.throughput.median)}/s {numbers.mark(each)}"
                for _, each in pairs
            )
            for name, pairs in series.items()
        )
        label = f"{title}, durability proven: {durability}: throughput and latency against {axis.name}: {told}"
        return drawing.Plot(drawing.svg(figure, f"sweep-{measured[0][1].workload}-{durability}"), label)


def _with_room(values: Sequence[int]) -> set[int]:
    """Ticks whose labels do not touch each other on a logarithmic axis: from the largest down."""
    shown = [values[-1]]
    apart = (values[-1] / max(values[0], 1)) ** _APART  # 0: of what the axis says nothing about
    for value in reversed(values[:-1]):
        if shown[-1] >= value * apart:
            shown.append(value)
    return set(shown)


def _tick(value: int) -> str:
    return str(value) if value < 10_000 else units.short(value)
