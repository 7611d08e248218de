"""How plots are drawn: their style, their colours, and the SVG that is made of a figure.

Colours are CSS variables, so that a plot follows the page between light and dark. The colour of a bar or a point is the durability that
was proven, never the store: what may not be set into one ratio must not look as if it could.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from storeproof.report import words
from storeproof.report.axes import Pair

INK, GRID = "#010101", "#020202"
RUNGS = {
    "not proven": "#030001",
    "volatile": "#030002",
    "clean_restart": "#030003",
    "process_crash": "#030004",
    "power_loss": "#030005",
    "node_loss": "#030006",
}
LINES = tuple(f"#04000{digit}" for digit in range(1, 9))
_VARIABLES = {
    INK: "var(--ink)",
    GRID: "var(--grid)",
    **{colour: f"var(--rung-{name.replace(' ', '-').replace('_', '-')})" for name, colour in RUNGS.items()},
    **{colour: f"var(--line-{number})" for number, colour in enumerate(LINES, 1)},
}
"""Colours that no eye sees: matplotlib writes them, and the CSS variable takes their place."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "✖", "★")
"""The markers as letters, for the legend."""

COLUMNS = 4
"""Panels beside each other."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "storeproof",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.8,
}
SHORT = FuncFormatter(lambda value, _: words.short(value))
TIME = FuncFormatter(lambda value, _: words.micros(value))


@dataclass(frozen=True)
class Plot:
    """An inline SVG and the sentence that stands for it where it cannot be seen."""

    svg: str
    label: str


def proven(pair: Pair) -> str:
    """The proven durability of the store of a measurement, in words."""
    return pair[0].durability.proven or "not proven"


def styled() -> AbstractContextManager[None]:
    """Within it figures have our style."""
    context: AbstractContextManager[None] = matplotlib.rc_context(_STYLE)
    return context


def panels(count: int) -> tuple[Figure, list[tuple[float, float, float, float]]]:
    """A figure as wide as the page with room for so many panels, and where they are; a single one is as large as one of many."""
    rows = -(-count // COLUMNS)
    width, height = 1 / COLUMNS, 1 / rows
    places = [divmod(number, COLUMNS) for number in range(count)]
    return Figure(figsize=(2.8 * COLUMNS, 2.5 * rows)), [
        ((column + 0.17) * width, 1 - (row + 0.82) * height, 0.78 * width, 0.7 * height) for row, column in places
    ]


def logarithmic(axes: Axes, formatter: FuncFormatter) -> None:
    """A logarithmic axis for what is measured, with a label at 1, 2 and 5 of each decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(formatter)
    axes.yaxis.set_minor_locator(NullLocator())


def line_style(number: int) -> dict[str, Any]:
    """Of the line of a number: colour and marker, and another dash where the colours begin anew."""
    return {
        "color": LINES[number % len(LINES)], "marker": MARKERS[number % len(MARKERS)], "markersize": 4,
        "linestyle": DASHES[number // len(LINES) % len(DASHES)], "linewidth": 1.6,
    }  # fmt: skip


def series_of(measured: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The measurements of each line: one store in one variant with one number of indexes. By the line's name."""
    series: dict[str, list[Pair]] = {}
    for store, each in measured:
        name = words.name_of(store) + (f" · {words.indexes(each.indexes)}" if each.indexes else "")
        series.setdefault(name, []).append((store, each))
    return series


def legend(measured: Sequence[Pair]) -> list[tuple[str, str, str]]:
    """As `legend_of`, of the lines of `series_of`."""
    return legend_of(series_of(measured))


def legend_of(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """(CSS colour, sign, name), in the order of the lines."""
    return [(_VARIABLES[LINES[number % len(LINES)]], SIGNS[number % len(SIGNS)], name) for number, name in enumerate(names)]


def rungs(measured: Sequence[Pair]) -> list[tuple[str, str, str]]:
    """(CSS colour, sign, proven durability) of those that occur, from the weakest to the strongest."""
    found = {proven(pair) for pair in measured}
    return [(_VARIABLES[colour], "■", name) for name, colour in RUNGS.items() if name in found]


def svg(figure: Figure, prefix: str) -> str:
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
