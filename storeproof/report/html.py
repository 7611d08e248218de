"""Renders a result as one page that needs nothing else: no network, no other file."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from storeproof import units
from storeproof.outcome import Outcome
from storeproof.report import capability_matrix, formatting, gates, tables
from storeproof.report.answer_table import answer
from storeproof.report.axes import Pair
from storeproof.report.faults_without_guarantee import hardships
from storeproof.report.parts import (
    cluster_rounds,
    crash_table,
    isolation_drawn,
    isolation_table,
    joint_loads,
    losses,
    missing,
    outages,
    stale_reads,
)
from storeproof.report.parts.case_answers import case_answers
from storeproof.report.parts.crash_states import states_drawn
from storeproof.report.parts.fault_table import faults
from storeproof.report.parts.overview import overview, role_anchor, workload_anchor
from storeproof.report.parts.rendering import whole_page
from storeproof.report.parts.roles import label_of
from storeproof.report.pictures.cluster_lanes import cluster_pictures
from storeproof.report.resources.anatomy import ANATOMY_NOTE, anatomies, sentences, unmatched
from storeproof.report.resources.server_cost import COST_NOTE, about_costs
from storeproof.report.resources.server_cost import costs as costs_of_server
from storeproof.report.speed import caches, noise, numbers, ratios
from storeproof.report.speed.table import about, operations_of, speed
from storeproof.result.model import Result, StoreResult
from storeproof.spec import shipped

if TYPE_CHECKING:
    from storeproof.report.pictures.of_result import Pictures

_NOTHING_DRAWN: Final[Mapping[str, Any]] = {
    "bars": [], "sweeps": [], "rungs": [], "cost": None, "cost_legend": [], "scatter": None, "outage_pictures": [], "outage_legend": [],
}  # fmt: skip
"""What the page has for pictures where there are none."""


def render_html(result: Result, against: str = "") -> str:
    """The page; `against`: the `store:variant` that the others are set against, where it is not the fastest of each workload."""
    workloads = tables.workloads(result)
    measurements = [each for store in result.stores for each in store.measurements]
    titles = {name: each.title for name, each in shipped().capabilities.items()}
    pictures = _pictures(result)
    numbered = itertools.count(1)
    of_clusters = [
        (formatting.name_of(store), cluster_pictures(store.durability.guarantees, store.durability.failovers, numbered))
        for store in result.stores
    ]
    return whole_page(
        "report.html.j2",
        result=result,
        scale_title=formatting.SCALES.get(result.run.scale, ""),
        took=units.seconds(result.run.seconds),
        answer=answer(result.stores, titles),
        overview=overview(result),
        missing=[(role_anchor(name), label_of(name), table) for name, table in missing.missing(result).items()],
        beyond=missing.beyond(result),
        beyond_title=missing.TITLE,
        beyond_note=missing.NOTE,
        outcome_matrix=tables.outcome_matrix(result),
        groups=capability_matrix.matrix(result),
        signs=capability_matrix.SIGNS,
        asked=capability_matrix.was_asked(result),
        cases=case_answers(result, shipped()),
        titles=titles,
        marks={outcome.value: formatting.MARKS[outcome] for outcome in Outcome},
        names=[formatting.name_of(store) for store in result.stores],
        scaling=tables.scaling(result),
        joint=joint_loads.joint_loads(result.stores),
        joint_note=joint_loads.NOTE,
        outages=outages.outages(result),
        outages_note=outages.NOTE,
        caches=caches.all_tables(result),
        caches_note=caches.NOTE,
        listings=[_listing(store, pictures) for store in result.stores],
        ladder=tables.ladder(result),
        faults=faults(result),
        cluster_pictures=[each for each in of_clusters if each[1]],
        cluster_note=cluster_rounds.NOTE,
        strength=losses.NOTE,
        hardships=hardships(result),
        states_drawn=states_drawn,
        crashes=crash_table.crash_table(result),
        crashes_note=crash_table.NOTE,
        crashes_title=crash_table.TITLE,
        levels=isolation_table.isolation_table(result.stores),
        levels_note=isolation_table.NOTE,
        levels_title=isolation_table.TITLE,
        levels_drawn=isolation_drawn.of_result(result),
        stale=stale_reads.stale_reads(result),
        stale_note=stale_reads.NOTE,
        gates=gates.LEGEND,
        grades=numbers.LEGEND,
        numbers=numbers.count(measurements),
        ratios=ratios.matrix(result, workloads, against),
        against=against or "the fastest store of equal proven durability",
        ratios_note=ratios.NOTE,
        index_costs=ratios.index_table(result),
        noise=noise.noise(result),
        noise_words=noise.in_words(noise.floors_of(noise.kinds_of(result))),
        cost_note=COST_NOTE if any(map(costs_of_server, workloads.values())) else "",
        workloads=[_workload(result, name, measured, pictures, against) for name, measured in workloads.items()],
        machine=tables.machine(result),
        settings=tables.settings(result),
        totals=tables.totals(result),
        stores_listed=units.plural(len(result.stores), "store"),
        outcomes_listed=units.plural(sum(len(store.outcomes) for store in result.stores), "outcome"),
        measurements_listed=units.plural(len(measurements), "measurement"),
        **(pictures.of_report() if pictures else _NOTHING_DRAWN),
    )


def _pictures(result: Result) -> Pictures | None:
    """None where there is nothing to draw: matplotlib takes as long to import as all of storeproof. Numbers of one store that are too few
    for decisions are told by the tables."""
    few = result.run.scale == "smoke" and len(result.stores) == 1
    if not any(store.histories or (not few and (store.measurements or store.outages)) for store in result.stores):
        return None
    from storeproof.report.pictures.of_result import Pictures  # only here

    return Pictures(result)


def _workload(result: Result, name: str, measured: list[Pair], pictures: Pictures | None, against: str) -> dict[str, Any]:
    beside = ratios.beside(result, measured, against) if ratios.asked(result, measured) else None
    return {
        "workload": name,
        "anchor": workload_anchor(name),
        "title": measured[0][1].title,
        "about": about(measured),
        "table": speed(measured, beside),
        "no_ratio": beside.reasons if beside else "",
        "parts": operations_of(measured),
        "costs": costs_of_server(measured),
        "about_costs": about_costs(measured),
        "anatomy": anatomies(measured),
        "about_anatomy": [ANATOMY_NOTE, *sentences(measured), *unmatched(measured)],
        "numbers": numbers.count(each for _, each in measured),
        "invalid": sum(bool(each.invalid) for _, each in measured),
        **(pictures.of_workload(measured) if pictures else {"curves": None}),
    }


def _listing(store: StoreResult, pictures: Pictures | None) -> dict[str, Any]:
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
    sums = " · ".join(f"{store.counts[outcome]} {outcome}" for outcome in Outcome if store.counts.get(outcome))
    return {
        "name": formatting.name_of(store),
        "anchor": tables.anchor(store),
        "sums": sums or "nothing was run",
        "groups": groups,
        "pictures": pictures.of_store(store) if pictures else {},
    }
