"""How plots are drawn: their style, their colours, and the SVG that is made of a figure.

Colours are CSS variables, so that a plot follows the page between light and dark. The colour of a bar or a point is the durability that
was proven, never the store: what may not be set into one ratio must not look as if it could.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator, NullLocator

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import Pair
from storeproof.result.measurement import Measurement

INK, GRID = "#010101", "#020202"
RUNGS = {
    "not tried": "#030007",
    "not proven": "#030001",
    "volatile": "#030002",
    "clean_restart": "#030003",
    "process_crash": "#030004",
    "power_loss": "#030005",
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
SHORT = FuncFormatter(lambda value, _: units.short(value))
TIME = FuncFormatter(lambda value, _: units.micros(value))

_LABELS = 3
"""The fewest that an axis has."""

_FACTOR = 4.0
"""Between the ends of a logarithmic axis, at least."""

_STEPS = ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
"""The ticks in a decade of a logarithmic axis; of the last ones three are within any factor of 4."""


@dataclass(frozen=True)
class Plot:
    """An inline SVG and the sentence that stands for it where it cannot be seen."""

    svg: str
    label: str


def proven(pair: Pair) -> str:
    """The proven durability of the store of a measurement, in words."""
    return pair[0].durability.shown


def styled() -> AbstractContextManager[None]:
    """Within it figures have our style."""
    context: AbstractContextManager[None] = matplotlib.rc_context(_STYLE)
    return context


def panels(count: int) -> tuple[Figure, list[tuple[float, float, float, float]]]:
    """A figure as wide as the page with that many panels, and their positions; a single one is as large as one of many."""
    rows = -(-count // COLUMNS)
    width, height = 1 / COLUMNS, 1 / rows
    places = [divmod(number, COLUMNS) for number in range(count)]
    return Figure(figsize=(2.8 * COLUMNS, 2.5 * rows)), [
        ((column + 0.17) * width, 1 - (row + 0.82) * height, 0.78 * width, 0.7 * height) for row, column in places
    ]


class _Decades(Locator):
    """Labels at 1 of each decade; where those are too few at 1, 2 and 5, or closer."""

    def __call__(self) -> Sequence[float]:
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """The labelled values from one end of the axis to the other."""
        decades = range(math.floor(math.log10(vmin)), math.floor(math.log10(vmax)) + 1)
        found: list[float] = []
        for steps in _STEPS:
            found = [step * 10.0**decade for decade in decades for step in steps if vmin <= step * 10.0**decade <= vmax]
            if len(found) >= _LABELS:
                break
        return found

    def nonsingular(self, v0: float, v1: float) -> tuple[float, float]:
        """The ends of an axis for these values: a difference of a hundredth must not look like a cliff."""
        if not 0 < v0 <= v1 < math.inf:  # nothing is drawn
            return 1.0, _FACTOR
        middle = math.sqrt(v0 * v1)
        return min(v0, middle / math.sqrt(_FACTOR)), max(v1, middle * math.sqrt(_FACTOR))


def logarithmic(axes: Axes, formatter: FuncFormatter) -> None:
    """A logarithmic axis for what is measured."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(_Decades())
    axes.yaxis.set_major_formatter(formatter)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.autoscale_view(scalex=False)  # the scale's own locator was asked for the ends before


class Lines:
    """Which colour and sign stand for which line: the same in all plots that are given the same names in the same order."""

    def __init__(self, names: Iterable[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}

    def style(self, name: str) -> dict[str, Any]:
        """Colour and marker, and another dash when the colours repeat."""
        number = self._numbers[name]
        return {
            "color": LINES[number % len(LINES)], "marker": MARKERS[number % len(MARKERS)], "markersize": 4,
            "linestyle": DASHES[number // len(LINES) % len(DASHES)], "linewidth": 1.6,
        }  # fmt: skip

    def legend(self, names: Iterable[str] | None = None) -> list[tuple[str, str, str]]:
        """(CSS colour, sign, name) of all lines, or of some."""
        numbered = [(self._numbers[name], name) for name in (self._numbers if names is None else names)]
        return [(_VARIABLES[LINES[number % len(LINES)]], SIGNS[number % len(SIGNS)], name) for number, name in numbered]


def point(measured: Measurement, style: Mapping[str, Any]) -> dict[str, Any]:
    """How the point of a number is drawn: hollow where it is a lower bound, ✘ where it is not valid."""
    if measured.invalid:
        return {"color": INK, "marker": "$✘$", "markersize": 8, "linestyle": "none"}
    hollow = {"markerfacecolor": "none", "markersize": 6} if measured.at_least else {}
    return {"color": style["color"], "marker": style["marker"], "markersize": style["markersize"], "linestyle": "none", **hollow}


def series_of(measured: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The measurements of each line: one store in one variant with one number of indexes. By the line's name."""
    series: dict[str, list[Pair]] = {}
    for store, each in measured:
        name = formatting.name_of(store) + (f" · {formatting.indexes(each.indexes)}" if each.indexes else "")
        series.setdefault(name, []).append((store, each))
    return series


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
