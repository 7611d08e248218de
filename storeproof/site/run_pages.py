"""The pages of runs: the machine, the command, and every number with a permanent anchor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from storeproof import units
from storeproof.outcome import IDLE, SHOWN
from storeproof.report.formatting import MARKS, SCALES, name_of
from storeproof.report.parts.crash_states import StateDrawn, states_drawn
from storeproof.report.parts.fault_table import fault_table
from storeproof.report.parts.isolation_drawn import AnomalyDrawn, anomalies_drawn
from storeproof.report.parts.isolation_table import isolation_table
from storeproof.report.parts.joint_loads import joint_loads
from storeproof.report.parts.losses import losses_of
from storeproof.report.parts.outages import DEEDS, outage_table
from storeproof.report.parts.roles import ProfileAnswer, role_of
from storeproof.report.tables import Cell, Table, machine, proven_cell
from storeproof.result.model import StoreResult
from storeproof.site.answers import answers_of, by_group
from storeproof.site.names import isolation_anchor, joint_anchor, loss_anchor, outage_anchor, run_page
from storeproof.site.rates import Rate, rates_of
from storeproof.site.rendering import Renderer
from storeproof.site.site_content import SiteContent
from storeproof.spec.guarantee import FAULT_WORDS

_HISTORIES: Final = "stateful."


@dataclass(frozen=True)
class VariantInRun:
    store: StoreResult
    proven: Cell
    shown: int
    """Capabilities that it was shown to have."""
    tried: int
    groups: list[tuple[str, int, int]]
    """Of each group of capabilities: how many it has, and how many there are."""
    roles: list[ProfileAnswer]
    models: list[tuple[str, str, str]]
    """Each model of which random histories were tried, with what came of it, and how that is meant."""
    outages: Table
    rates: list[Rate]
    states: list[tuple[str, list[StateDrawn]]]
    """By case those of a disk on which it fails."""
    levels: Table
    anomalies: list[tuple[str, list[AnomalyDrawn]]]
    """By case those among its transactions."""

    @property
    def name(self) -> str:
        return name_of(self.store)


def run_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    for source in content.sources:
        path = run_page(source.result.run.id)
        stores = {(each.store, each.configuration): each for each in source.result.stores}.values()
        shown: dict[str, Any] = {
            "parts": [_variant_in_run(each) for each in stores],
            "losses": _losses(stores),
            "joint": joint_loads(stores, lambda store, name: joint_anchor(store.store, store.configuration, name)),
            "machine": machine(source.result),
            "about": SCALES.get(source.result.run.scale, ""),
        }
        yield path, renderer.page(path, "run.html.j2", source=source, **shown)


def _variant_in_run(store: StoreResult) -> VariantInRun:
    answers = answers_of(store)
    tried = sum(each.summary.outcome not in IDLE for each in answers.values())
    return VariantInRun(
        store=store,
        proven=proven_cell(store),
        shown=sum(each.shown for each in answers.values()),
        tried=tried,
        groups=[(group, sum(answers[name].shown for name in names), len(names)) for group, names in by_group(answers).items()]
        if tried
        else [],
        roles=[role_of(each) for each in store.profiles] if tried else [],
        models=list(_models(store)),
        outages=outages_of(store),
        rates=rates_of(store),
        levels=isolation_table([store], lambda store, case: isolation_anchor(store.store, store.configuration, case)),
        anomalies=list(anomalies_drawn(store)),
        states=[(each.id, drawn) for each in store.outcomes if (drawn := states_drawn(each))],
    )


def _losses(stores: Iterable[StoreResult]) -> Table:
    """What each fault cost each variant, with the anchors of the rows."""
    struck = []
    for store in stores:
        losses = losses_of(store)
        for name in FAULT_WORDS:
            if name in losses:
                anchor = loss_anchor(store.store, store.configuration, name)
                which = [Cell(name_of(store), "strong", f"#{anchor}", id=anchor), Cell(losses[name].fault)]
                struck.append((which, losses[name], ()))
    return fault_table(("store:variant", "fault"), struck, ())


def _models(store: StoreResult) -> Iterator[tuple[str, str, str]]:
    tried = {each.id: each for each in store.outcomes if each.id.startswith(_HISTORIES) and each.outcome not in IDLE}
    for case, each in tried.items():
        yield case.removeprefix(_HISTORIES), f"{MARKS[each.outcome]} {each.outcome}", "good" if each.outcome in SHOWN else str(each.outcome)


def outages_of(store: StoreResult, page: str = "") -> Table:
    """Each fault once. `page`: that of the run, to which the rows lead; empty on that page itself, where the anchors are."""
    found = {each.fault: each for each in reversed(store.outages)}
    rows = []
    for fault, each in reversed(found.items()):
        anchor = outage_anchor(store.store, store.configuration, fault)
        load = f"{units.plural(each.clients, 'client')}, {each.rate} requests/s"
        rows.append(([Cell(DEEDS[fault], "", f"{page}#{anchor}", load, "" if page else anchor)], each))
    return outage_table(["what happened"], rows)
