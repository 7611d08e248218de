"""Renders a result as one page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storeproof import units
from storeproof.outcome import Outcome
from storeproof.report import curves, drawing, formatting, gates, history_plot, matrix, mixes, outage_pictures, plots, tables, tradeoffs
from storeproof.report.answer_table import answer
from storeproof.report.axes import Pair, axis_of
from storeproof.report.confidence import NOTE
from storeproof.report.other_faults import hardships
from storeproof.report.parts.beyond import NOTE as BEYOND_NOTE
from storeproof.report.parts.beyond import TITLE as BEYOND_TITLE
from storeproof.report.parts.beyond import beyond
from storeproof.report.parts.case_answers import case_answers
from storeproof.report.parts.demands import shipped
from storeproof.report.parts.fault_table import faults
from storeproof.report.parts.joint_loads import NOTE as JOINT_NOTE
from storeproof.report.parts.joint_loads import joint_loads
from storeproof.report.parts.missing import missing
from storeproof.report.parts.outages import NOTE as OUTAGES_NOTE
from storeproof.report.parts.outages import outages
from storeproof.report.parts.overview import overview, role_anchor, workload_anchor
from storeproof.report.parts.rendering import whole_page
from storeproof.report.parts.roles import label_of
from storeproof.report.resources.server_cost import COST_NOTE, about_costs
from storeproof.report.resources.server_cost import costs as costs_of_server
from storeproof.report.speed import caches, index_costs, noise, numbers, ratios
from storeproof.report.speed.table import about, speed
from storeproof.result.model import Result, StoreResult


def render_html(result: Result, against: str = "") -> str:
    """The page; `against`: the `store:variant` that the others are set against, where it is not the fastest of each workload."""
    workloads = tables.workloads(result)
    # A store has one colour in all plots; those without indexes come first, since colours are few.
    lines = drawing.Lines(
        [*map(formatting.name_of, result.stores), *(name for measured in workloads.values() for name in drawing.series_of(measured))]
    )
    costs = tradeoffs.in_variants(workloads)
    compared = drawing.Lines(name for measured in costs.values() for name in measured)
    bars, sweeps = _plots(workloads, lines)
    measurements = [each for store in result.stores for each in store.measurements]
    titles = {name: each.title for name, each in shipped().capabilities.items()}
    return whole_page(
        "report.html.j2",
        result=result,
        scale_title=formatting.SCALES.get(result.run.scale, ""),
        took=units.seconds(result.run.seconds),
        answer=answer(result, titles),
        overview=overview(result),
        missing=[(role_anchor(name), label_of(name), table) for name, table in missing(result).items()],
        beyond=beyond(result),
        beyond_title=BEYOND_TITLE,
        beyond_note=BEYOND_NOTE,
        outcome_matrix=tables.outcome_matrix(result),
        groups=matrix.matrix(result),
        signs=matrix.SIGNS,
        asked=matrix.was_asked(result),
        cases=case_answers(result, shipped()),
        titles=titles,
        marks={outcome.value: formatting.MARKS[outcome] for outcome in Outcome},
        names=[formatting.name_of(store) for store in result.stores],
        scaling=tables.scaling(result),
        joint=joint_loads(result.stores),
        joint_note=JOINT_NOTE,
        outages=outages(result),
        outages_note=OUTAGES_NOTE,
        outage_pictures=outage_pictures.pictures(result),
        outage_legend=outage_pictures.legend(),
        caches=caches.all_tables(result),
        caches_note=caches.NOTE,
        listings=[_listing(store) for store in result.stores],
        ladder=tables.ladder(result),
        faults=faults(result),
        strength=NOTE,
        hardships=hardships(result),
        gates=gates.LEGEND,
        grades=numbers.LEGEND,
        numbers=numbers.count(measurements),
        ratios=ratios.matrix(result, workloads, against),
        against=against or "the fastest store of equal proven durability",
        ratios_note=ratios.NOTE,
        index_costs=index_costs.index_table(result),
        noise=noise.noise(result),
        noise_words=noise.in_words(noise.floors_of(noise.kinds_of(result))),
        bars=bars,
        sweeps=sweeps,
        rungs=drawing.rungs([pair for measured in workloads.values() if not plots.is_sweep(measured) for pair in measured]),
        cost=tradeoffs.cost_of_durability(costs, compared) if costs else None,
        cost_legend=compared.legend(),
        scatter=tradeoffs.features_against_speed(result, workloads),
        cost_note=COST_NOTE if any(map(costs_of_server, workloads.values())) else "",
        workloads=[_workload(result, name, measured, lines, against) for name, measured in workloads.items()],
        machine=tables.machine(result),
        settings=tables.settings(result),
        totals=tables.totals(result),
        stores_listed=units.plural(len(result.stores), "store"),
        outcomes_listed=units.plural(sum(len(store.outcomes) for store in result.stores), "outcome"),
        measurements_listed=units.plural(len(measurements), "measurement"),
    )


def _workload(result: Result, name: str, measured: list[Pair], lines: drawing.Lines, against: str) -> dict[str, Any]:
    title = measured[0][1].title
    beside = ratios.beside(result, measured, against) if ratios.asked(result, measured) else None
    return {
        "workload": name,
        "anchor": workload_anchor(name),
        "title": title,
        "about": about(measured),
        "table": speed(measured, beside),
        "no_ratio": beside.reasons if beside else "",
        "parts": mixes.parts(measured),
        "costs": costs_of_server(measured),
        "about_costs": about_costs(measured),
        "curves": curves.curves(measured, title, lines),
        "legend": lines.legend(drawing.series_of(measured)),
        "numbers": numbers.count(each for _, each in measured),
        "invalid": sum(bool(each.invalid) for _, each in measured),
    }


def _plots(workloads: dict[str, list[Pair]], lines: drawing.Lines) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    bars, sweeps = [], []
    for name, measured in workloads.items():
        title = measured[0][1].title
        if not plots.is_sweep(measured):
            clients = sorted({each.clients for _, each in measured})
            spoken = f"{', '.join(map(str, clients))} {'client' if clients == [1] else 'clients'}"
            unit = " / ".join(dict.fromkeys(each.throughput.unit for _, each in measured))
            bars.append({"workload": name, "title": title, "clients": f"{spoken} · {unit}", "plot": plots.bars(measured, title)})
            continue
        for durability, group in _by_durability(measured):
            sweeps.append(
                {
                    "workload": name,
                    "title": title,
                    "axis": axis_of(measured).name,
                    "durability": durability,
                    "legend": lines.legend(drawing.series_of(group)),
                    "plot": plots.sweep(group, durability, title, lines),
                }
            )
    return bars, sweeps


def _by_durability(measured: list[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    for _, _, durability in drawing.rungs(measured):
        yield durability, [pair for pair in measured if drawing.proven(pair) == durability]


def _listing(store: StoreResult) -> dict[str, Any]:
    """All outcomes of a store, the worst first."""
    groups = [
        {
            "outcome": outcome.value,
            "mark": formatting.MARKS[outcome],
            "meaning": formatting.MEANINGS[outcome],
            "anchor": tables.anchor(store, outcome),
            "records": records,
        }
        for outcome in Outcome
        if (records := [each for each in store.outcomes if each.outcome is outcome])
    ]
    pictures = {each.case: {"plot": history_plot.lanes(each), "key": each.key, "operations": each.operations} for each in store.histories}
    sums = " · ".join(f"{store.counts[outcome]} {outcome}" for outcome in Outcome if store.counts.get(outcome))
    return {
        "name": formatting.name_of(store),
        "anchor": tables.anchor(store),
        "sums": sums or "nothing was run",
        "groups": groups,
        "pictures": pictures,
    }
