"""What one thing costs of another: durability against speed for each store, and capabilities against speed over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from storeproof import units
from storeproof.outcome import Outcome
from storeproof.report import formatting
from storeproof.report.axes import Pair, is_plain, typical
from storeproof.report.pictures.drawing import COLUMNS, RUNGS, SHORT, Lines, Plot, logarithmic, panels, point, proven, styled, svg
from storeproof.report.speed.numbers import at_least
from storeproof.result.model import Result


def in_variants(workloads: Mapping[str, Sequence[Pair]]) -> dict[str, dict[str, list[Pair]]]:
    """The workloads of each store that was measured in variants of unlike proven durability; without numbers that are not valid."""
    stores: dict[str, dict[str, list[Pair]]] = {}
    for name, measured in workloads.items():
        for pair in typical(measured) if is_plain(measured) else ():
            if not pair[1].indexes and not pair[1].invalid:
                stores.setdefault(pair[0].store, {}).setdefault(name, []).append(pair)
    return {store: lines for store, lines in stores.items() if len({proven(pair) for measured in lines.values() for pair in measured}) > 1}


def cost_of_durability(stores: Mapping[str, Mapping[str, Sequence[Pair]]], drawn: Lines) -> Plot:
    """One panel for each store that is `in_variants`: throughput, one line a workload.

    Here, and nowhere else, unlike durability is set side by side: it is what is asked.
    """
    with styled():
        figure, places = panels(len(stores))
        told = []
        for (store, lines), place in zip(stores.items(), places, strict=True):
            axes = figure.add_axes(place)
            variants = sorted(
                {_variant(pair) for measured in lines.values() for pair in measured}, key=lambda each: list(RUNGS).index(each[1])
            )
            for workload, measured in lines.items():
                found = {_variant(pair): pair[1] for pair in measured}
                points = [(at, found[each]) for at, each in enumerate(variants) if each in found]
                style = drawn.style(workload)
                axes.plot([at for at, _ in points], [each.throughput.median for _, each in points], **{**style, "marker": ""})
                for at, each in points:
                    axes.plot(at, each.throughput.median, **point(each, style))
            axes.set_title(store, fontsize=9, loc="left", y=1.01)
            axes.set_xticks(range(len(variants)), [f"{name}\n{rung}" for name, rung in variants], fontsize=7)
            axes.set_xlim(-0.3, len(variants) - 0.7)
            _speed(axes)
            told.append(f"{store}: " + ", ".join(f"{name} ({rung})" for name, rung in variants))
        return Plot(svg(figure, "cost-of-durability"), f"Throughput of each store by the durability of its variants: {'; '.join(told)}")


def features_against_speed(result: Result, workloads: Mapping[str, Sequence[Pair]]) -> Plot | None:
    """One panel for each of the workloads that most stores were measured with: capabilities shown in this run, and throughput.

    A hollow point is a lower bound; a number that is not valid has none.
    """
    shown = {formatting.name_of(store): sum(each.outcome is Outcome.PASS for each in store.capabilities) for store in result.stores}
    numbers = {name: str(number) for number, name in enumerate(shown, 1)}
    valid = {name: [pair for pair in measured if not pair[1].invalid] for name, measured in workloads.items() if is_plain(measured)}
    plain = [(name, measured) for name, measured in valid.items() if measured]
    if len(shown) < 2 or not any(shown.values()) or not plain:
        return None
    chosen = sorted(plain, key=lambda item: -len({formatting.name_of(store) for store, _ in item[1]}))[:COLUMNS]
    with styled():
        figure, places = panels(len(chosen))
        told = []
        for (name, measured), place in zip(chosen, places, strict=True):
            axes = figure.add_axes(place)
            points = [pair for pair in typical(measured) if not pair[1].indexes] or measured
            for pair in points:
                at = (shown[formatting.name_of(pair[0])], pair[1].throughput.median)
                axes.plot(*at, "o", color=RUNGS[proven(pair)], markersize=6, fillstyle="none" if pair[1].at_least else "full")
                axes.annotate(numbers[formatting.name_of(pair[0])], at, xytext=(5, -3), textcoords="offset points", fontsize=8)
            axes.set_title(f"{name}, {units.plural(points[0][1].clients, 'client')}", fontsize=9, loc="left", y=1.01)
            axes.set_xlabel("capabilities shown", fontsize=8, labelpad=1)
            axes.set_xlim(0, max(shown.values()) * 1.12)
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.tick_params(axis="x", labelsize=8)
            _speed(axes)
            told.append(
                f"{name}: "
                + ", ".join(
                    f"{formatting.name_of(store)} {at_least(each)}{units.short(each.throughput.median)}/s" for store, each in points
                )
            )
        return Plot(svg(figure, "features-against-speed"), f"Throughput against capabilities shown in this run: {'; '.join(told)}")


def _variant(pair: Pair) -> tuple[str, str]:
    return pair[0].configuration, proven(pair)


def _speed(axes: Axes) -> None:
    logarithmic(axes, SHORT)
    axes.tick_params(axis="y", labelsize=8)
    axes.margins(y=0.15)
    axes.grid()
