"""Pictures of a store that failed: its response times and its throughput around each fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from storeproof import units
from storeproof.report import formatting
from storeproof.report.parts.outages import DEEDS
from storeproof.report.pictures.drawing import INK, LINES, SHORT, TIME, Plot, logarithmic, styled, svg
from storeproof.result.measured.outage import OutageBin, OutageRecord
from storeproof.result.model import Result, StoreResult

_MEDIAN, _MOST, _ERRORS = LINES[0], LINES[3], LINES[1]
_PANELS = 3
_CLOSE = 0.12
"""As a share of a panel's width: names that are closer would overlap."""
_ROOM = 2.5
"""Times the usual answers of a tenth of a second: what had waited for a second comes all at once, and would leave no room for the rest."""


@dataclass(frozen=True)
class StoreOutages:
    name: str
    about: str
    plot: Plot


def pictures(result: Result) -> list[StoreOutages]:
    """One for each store that was struck."""
    found = []
    for store in result.stores:
        if store.outages:
            load = " / ".join(dict.fromkeys(f"{each.clients} clients, {each.rate} requests/s" for each in store.outages))
            found.append(StoreOutages(formatting.name_of(store), load, _picture(store, store.outages)))
    return found


def legend() -> list[tuple[str, str, str]]:
    """(CSS colour, sign, name) of what a picture shows."""
    return [
        ("var(--line-1)", "━", "median response, answers"),
        ("var(--line-4)", "━", "longest response"),
        ("var(--line-2)", "✖", "errors"),
    ]


def _picture(store: StoreResult, struck: Sequence[OutageRecord]) -> Plot:
    """Response times above, throughput below; a column for each fault."""
    with styled():
        figure = Figure(figsize=(11.2, 3.4))
        ceiling = _ROOM * max(each.rate for each in struck) / 10
        above: Axes | None = None
        below: Axes | None = None
        for column, each in enumerate(struck):
            left, width = 0.045 + column / _PANELS, 0.26
            above = figure.add_axes((left, 0.50, width, 0.40), sharey=above)
            below = figure.add_axes((left, 0.11, width, 0.28), sharey=below, sharex=above)
            above.set_title(f"{each.fault}: {DEEDS[each.fault]}", fontsize=9, loc="left", y=1.01)
            _responses(above, each.bins)
            _throughput(below, each.bins, ceiling)
            for axes in (above, below):
                for event in each.events:
                    axes.axvline(event.second, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
                axes.set_xlim(each.bins[0].second, each.bins[-1].second + 0.1)
                axes.tick_params(labelsize=8)
                axes.grid()
            _name(above, each)
            above.tick_params(axis="x", labelbottom=False)
            below.xaxis.set_major_locator(MaxNLocator(7))
            below.set_xlabel("seconds from the fault", fontsize=8, labelpad=1)
        told = "; ".join(
            f"{each.fault}: {units.seconds(each.unavailable_seconds)} unavailable, p99 {units.micros(each.during.p99_us)} during it"
            for each in struck
        )
        name = formatting.name_of(store)
        return Plot(svg(figure, f"outages-{name}"), f"{name}: response time and throughput around each fault: {told}")


def _responses(axes: Axes, bins: Sequence[OutageBin]) -> None:
    """On a logarithmic axis, each tenth of a second at its middle; a gap where nothing that was due was answered."""
    at = [each.second + 0.05 for each in bins]
    nothing = float("nan")
    axes.plot(at, [nothing if each.max_us is None else each.max_us for each in bins], color=_MOST, linewidth=1.2)
    axes.plot(at, [nothing if each.p50_us is None else each.p50_us for each in bins], color=_MEDIAN, linewidth=1.6)
    logarithmic(axes, TIME)


def _throughput(axes: Axes, bins: Sequence[OutageBin], ceiling: float) -> None:
    """Answers and errors that came in each tenth of a second; where bars are too high, the number of the highest."""
    axes.bar([each.second + 0.05 for each in bins], [each.ok for each in bins], width=0.09, color=_MEDIAN, linewidth=0)
    high = [each for each in bins if each.ok > ceiling]
    if high:
        most = f"up to {units.whole(max(each.ok for each in high))}"
        axes.annotate(most, (high[-1].second + 0.1, ceiling), xytext=(2, -1), textcoords="offset points", fontsize=7.5, va="top")
    wrong = [each for each in bins if each.errors]
    axes.plot([each.second + 0.05 for each in wrong], [min(each.errors, ceiling) for each in wrong], "X", color=_ERRORS, markersize=5)
    axes.set_ylim(0, ceiling)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(SHORT)


def _name(axes: Axes, struck: OutageRecord) -> None:
    """The moments of the fault by name, below their lines; those that are close share a place."""
    span = struck.bins[-1].second - struck.bins[0].second
    shown: list[tuple[float, str]] = []
    for event in sorted(struck.events, key=lambda each: each.second):
        if shown and event.second - shown[-1][0] < span * _CLOSE:
            shown[-1] = (shown[-1][0], f"{shown[-1][1]}, {event.name}")
        else:
            shown.append((event.second, event.name))
    for second, name in shown:
        axes.annotate(
            name, (second, 0), xycoords=("data", "axes fraction"), xytext=(0, -8), textcoords="offset points", fontsize=7.5, va="center"
        )
