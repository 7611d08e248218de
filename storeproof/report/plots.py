"""Plots as inline SVG. Colours are CSS variables, so that a plot follows the page between light and dark.

A colour in a bar plot is the durability that was proven, never the store: what may not be set into one
ratio must not look as if it could. Line plots hold stores of one proven durability only.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from storeproof.report import words
from storeproof.report.tables import Pair

_INK, _GRID = "#010101", "#020202"
_RUNGS = {
    "not proven": "#030001",
    "volatile": "#030002",
    "clean_restart": "#030003",
    "process_crash": "#030004",
    "power_loss": "#030005",
    "node_loss": "#030006",
}
_LINES = tuple(f"#04000{digit}" for digit in range(1, 9))
_VARIABLES = {
    _INK: "var(--ink)",
    _GRID: "var(--grid)",
    **{colour: f"var(--rung-{name.replace(' ', '-').replace('_', '-')})" for name, colour in _RUNGS.items()},
    **{colour: f"var(--line-{number})" for number, colour in enumerate(_LINES, 1)},
}
"""Colours that no eye sees: matplotlib writes them, and the CSS variable takes their place."""

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "✖", "★")
"""The markers as letters, for the legend."""

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "storeproof",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.8,
}
_SHORT = FuncFormatter(lambda value, _: words.short(value))
_TIME = FuncFormatter(lambda value, _: words.micros(value))


@dataclass(frozen=True)
class Plot:
    """An inline SVG and the sentence that stands for it where it cannot be seen."""

    svg: str
    label: str


def proven(pair: Pair) -> str:
    """The proven durability of the store of a measurement, in words."""
    return pair[0].durability.proven or "not proven"


def is_sweep(measured: Sequence[Pair]) -> bool:
    """Whether a workload was measured over so many numbers of clients that a line says more than bars."""
    return len({each.clients for _, each in measured}) >= 3


def bars(measured: Sequence[Pair], title: str) -> Plot:
    """Median throughput with its interval, one bar per store, number of indexes and clients, grouped by proven durability."""
    order = sorted(measured, key=lambda pair: list(_RUNGS).index(proven(pair)))
    several_clients = len({each.clients for _, each in order}) > 1
    several_indexes = len({each.indexes for _, each in order}) > 1
    with matplotlib.rc_context(_STYLE):
        height = 0.3 + 0.24 * len(order)
        figure = Figure(figsize=(5.4, height))
        axes = figure.add_axes((0.40, 0.22 / height, 0.46, 1 - 0.26 / height))
        widest = max(each.throughput.high for _, each in order)
        for row, pair in enumerate(order):
            each = pair[1]
            spread = each.throughput
            failing = any(not gate.ok for gate in each.gates.values())
            axes.barh(
                row, spread.median, height=0.72, color=_RUNGS[proven(pair)], alpha=0.55 if each.indexes else 0.95,
                hatch="////" if failing else None, edgecolor=_GRID if failing else "none", linewidth=0,
            )  # fmt: skip
            sign = " ✘ gate" if failing else ""
            axes.text(max(spread.high, spread.median) + widest * 0.015, row, words.short(spread.median) + sign, va="center", fontsize=8.5)
        axes.hlines(
            range(len(order)), [each.throughput.low for _, each in order], [each.throughput.high for _, each in order],
            color=_INK, linewidth=1.2,
        )  # fmt: skip
        labels: list[str] = []
        above = None
        for store, each in order:
            details = [words.indexes(each.indexes)] if several_indexes else []
            details += [words.plural(each.clients, "client")] if several_clients else []
            labels.append(" · ".join(details if store is above else [words.name_of(store), *details]))
            above = store
        axes.set_yticks(range(len(order)), labels, fontsize=8.5)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlim(0, widest * 1.02 if widest else 1)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(_SHORT)
        axes.tick_params(axis="x", labelsize=8)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.spines["bottom"].set_visible(False)
        told = "; ".join(
            f"{words.name_of(store)} ({words.indexes(each.indexes)}, {each.clients} clients, {proven((store, each))}) "
            f"{words.interval(each.throughput)}"
            for store, each in order
        )
        return Plot(_svg(figure, f"bars-{order[0][1].workload}"), f"{title}: median throughput with 95 % interval: {told}")


def sweep(measured: Sequence[Pair], durability: str, title: str) -> Plot:
    """Throughput and latency percentiles against clients, one line per store, all of one proven durability."""
    series: dict[str, list[Pair]] = {}
    for store, each in measured:
        name = words.name_of(store) + (f" · {words.indexes(each.indexes)}" if each.indexes else "")
        series.setdefault(name, []).append((store, each))
    clients = sorted({each.clients for _, each in measured})
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(11.2, 2.75))
        panels = [("throughput per second", None), ("p50", "p50"), ("p95", "p95"), ("p99", "p99")]
        for column, (heading, percentile) in enumerate(panels):
            axes = figure.add_axes((0.045 + column * 0.245, 0.16, 0.195, 0.72))
            for number, pairs in enumerate(series.values()):
                points = sorted((each for _, each in pairs), key=lambda each: each.clients)
                style: dict[str, Any] = {
                    "color": _LINES[number % len(_LINES)], "marker": _MARKERS[number % len(_MARKERS)], "markersize": 4,
                    "linestyle": _DASHES[number // len(_LINES) % len(_DASHES)], "linewidth": 1.6,
                }  # fmt: skip
                if percentile is None:
                    spreads = [each.throughput for each in points]
                    counts = [each.clients for each in points]
                    axes.plot(counts, [each.median for each in spreads], **style)
                    axes.vlines(counts, [each.low for each in spreads], [each.high for each in spreads], color=style["color"], linewidth=1)
                else:
                    known = [(each.clients, getattr(each.latency_us, percentile)) for each in points]
                    known = [(at, latency) for at, latency in known if latency is not None]
                    axes.plot([at for at, _ in known], [latency for _, latency in known], **style)
            axes.set_title(heading, fontsize=9, loc="left")
            axes.set_xscale("log", base=2)
            axes.set_xticks(clients, [str(count) for count in clients], fontsize=8)
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("clients", fontsize=8, labelpad=1)
            if percentile is None:
                axes.set_ylim(bottom=0)
                axes.yaxis.set_major_formatter(_SHORT)
            elif axes.lines and any(len(line.get_xdata()) for line in axes.lines):  # type: ignore[arg-type]
                axes.set_yscale("log")
                axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axes.yaxis.set_major_formatter(_TIME)
                axes.yaxis.set_minor_locator(NullLocator())
            axes.tick_params(axis="y", labelsize=8)
            axes.grid()
        told = "; ".join(
            f"{name}: " + ", ".join(f"{each.clients} clients {words.short(each.throughput.median)}/s" for _, each in pairs)
            for name, pairs in series.items()
        )
        label = f"{title}, durability proven: {durability}: throughput and latency against clients: {told}"
        return Plot(_svg(figure, f"sweep-{measured[0][1].workload}-{durability}"), label)


def legend(measured: Sequence[Pair]) -> list[tuple[str, str, str]]:
    """(CSS colour, sign, series) of a sweep, in the order of its lines."""
    names = dict.fromkeys(words.name_of(store) + (f" · {words.indexes(each.indexes)}" if each.indexes else "") for store, each in measured)
    return [(_VARIABLES[_LINES[number % len(_LINES)]], _SIGNS[number % len(_SIGNS)], name) for number, name in enumerate(names)]


def rungs(measured: Sequence[Pair]) -> list[tuple[str, str, str]]:
    """(CSS colour, sign, proven durability) of those that occur, from the weakest to the strongest."""
    found = {proven(pair) for pair in measured}
    return [(_VARIABLES[colour], "■", name) for name, colour in _RUNGS.items() if name in found]


def _svg(figure: Figure, prefix: str) -> str:
    """The figure's `<svg>` element alone, with ids of its own: a page holds many."""
    buffer = io.StringIO()
    figure.set_canvas(FigureCanvasSVG(figure))
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    # The style would hold for the whole page, and the fonts are the page's.
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font-size: \1", re.sub(r" ?font-family: [^;\"]*;", "", text))
    slug = re.sub(r"[^a-z0-9]+", "-", prefix.lower())
    text = re.sub(r'\bid="', f'id="{slug}-', text)
    text = re.sub(r'href="#', f'href="#{slug}-', text).replace("url(#", f"url(#{slug}-")
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"#0[1-4]0[0-9]0[0-9]\b", lambda colour: _VARIABLES.get(colour[0], colour[0]), text)
    return re.sub(r"\s*\n\s*", "\n", text).strip()
