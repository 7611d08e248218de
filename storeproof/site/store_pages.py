"""The pages of a store and of its variants."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, TypeVar

from storeproof.outcome import IDLE, Outcome
from storeproof.report.faults_without_guarantee import hardships
from storeproof.report.parts.cluster_rounds import NOTE
from storeproof.report.parts.fault_table import fault_table
from storeproof.report.parts.losses import COLUMNS, Loss, losses_of
from storeproof.report.parts.stale_reads import NOTE as STALE_NOTE
from storeproof.report.parts.stale_reads import stale_table
from storeproof.report.pictures.cluster_lanes import cluster_pictures
from storeproof.report.speed import caches
from storeproof.report.tables import Cell, Table
from storeproof.result.model import Result
from storeproof.result.needs.servers import SMOKE
from storeproof.run_command import RunCommand
from storeproof.site.answers import answers_of, by_group, missing_by_reason
from storeproof.site.badges import badge_of, default_of
from storeproof.site.costs import command, cost_tables, foremost
from storeproof.site.isolation_pages import answer
from storeproof.site.joined_results import JoinedResult, SiteVariant
from storeproof.site.names import loss_anchor, run_page, store_page, variant_page
from storeproof.site.rates import rate_of, rates_of
from storeproof.site.rendering import Renderer
from storeproof.site.run_pages import outages_of
from storeproof.site.site_content import SiteContent
from storeproof.site.sources import SourceResult
from storeproof.spec.guarantee import FAULT_WORDS

T = TypeVar("T")

_CHANGE_WHAT_IS_MEASURED: Final = ("image", "disk", "power_cut", "engine", "records", "laps", "cores", "memory")
_OTHER_FAULTS = ("durability.bootstrap", "durability.full_disk", "durability.corruption")


@dataclass(frozen=True)
class ListedFailure:
    case: str
    issue: str
    until: date
    seen: bool
    """Whether it occurred in the results."""


def store_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    for store in dict.fromkeys(each.store for each in content.variants):
        variants = content.of_store(store)
        costs = cost_tables(content.sources, store)
        shared = {"rate_of": rate_of, "cost_command": command(store)}
        path = store_page(store)
        default = default_of(variants, content)
        levels = [level for each in variants for level in content.levels[each.name]]
        about: dict[str, Any] = {"costs": foremost(costs), "isolation": answer(levels), "has_levels": bool(levels)}
        about["disputes"] = [each for each in content.disputes if each.store == store]
        yield path, renderer.page(path, "store.html.j2", store=store, variants=variants, default=default, **shared, **about)
        for each in variants:
            path = variant_page(each.store, each.variant)
            shown = _shown(each, content) | {"costs": foremost(costs, each.variant)}
            yield path, renderer.page(path, "variant.html.j2", variant=each, **shared, **shown)


def _shown(variant: SiteVariant, content: SiteContent) -> dict[str, Any]:
    answers = content.answers[variant.name]
    store = content.stores.get(variant.store)
    described = store.variants.get(variant.variant) if store else None
    failovers = _first(variant, lambda found: found.store.durability.failovers)
    return {
        "roles": [variant.roles[name] for name in content.profiles if name in variant.roles],
        "losses": _losses(variant),
        "isolation": answer(content.levels[variant.name]),
        "cluster_pictures": cluster_pictures(
            [variant.losses[name][0].record for name in FAULT_WORDS if name in variant.losses],
            failovers[1] if failovers else [],
            itertools.count(1),
        ),
        "cluster_note": NOTE,
        "groups": [(group, names, [answers[name] for name in names]) for group, names in by_group(answers).items()],
        "answers": answers,
        "missing": missing_by_reason(answers),
        "speeds": [(found, rates_of(found.store)) for found in variant.measured],
        "outages": outages_of(variant.outages.store, f"../{run_page(variant.outages.source.result.run.id)}") if variant.outages else None,
        "stale": _first(variant, lambda found: _with_rows(stale_table(found.store))),
        "stale_note": STALE_NOTE,
        "caches": _first(variant, lambda found: caches.all_tables(_alone(found))),
        "caches_note": caches.NOTE,
        "other_faults": _other_faults(variant),
        "known": _known(variant, content),
        "note": described.note if described else "",
        "cache": store.cache.setting if store and store.cache else "",
        "differing": list(_differing(variant)),
        "command": repeat(variant.best),
        "history": history_of(variant),
        "badge": badge_of(variant, content),
    }


def repeat(found: JoinedResult) -> RunCommand:
    """What repeats what a result says of one variant. Where the user ran the server, `URL` stands for its address."""
    result, store = found.source.result, found.store
    typed = RunCommand.read(result.run.command)
    if any(each.store != store.store for each in result.stores):
        typed = typed.about([store.store])
    return RunCommand(
        store=[f"{store.store}:{store.variant}"],
        launch=store.launch,
        endpoint=[f"{store.store}=URL"] if store.launch == "endpoint" else [],
        scale=result.run.scale,
        edition=result.edition.version,
        seed=result.run.seed,
        **{name: getattr(typed, name) for name in _CHANGE_WHAT_IS_MEASURED},
    )


def _losses(variant: SiteVariant) -> Table:
    """What each fault cost it, with the run that says so."""
    struck = []
    for name in FAULT_WORDS:
        if name in variant.losses:
            loss, found = variant.losses[name]
            run = found.source.result.run
            page = f"../{run_page(run.id)}"
            small = ", smoke: too small for decisions" if run.scale == SMOKE else ""
            fault = Cell(loss.fault, "strong", f"{page}#{loss_anchor(variant.store, variant.variant, name)}")
            struck.append(([fault], loss, [Cell(f"{found.source.name}{small}", link=page)]))
    return fault_table(["fault"], struck, ["run"])


def _first(variant: SiteVariant, told: Callable[[JoinedResult], T]) -> tuple[SourceResult, T] | None:
    """What the preferred result that has any of it says, and that result."""
    return next(((found.source, said) for found in variant.joined if (said := told(found))), None)


def _with_rows(table: Table) -> Table | None:
    return table if table.rows else None


def _alone(found: JoinedResult) -> Result:
    """Its result, as if it had been run alone."""
    return found.source.result.model_copy(update={"stores": [found.store]})


def _other_faults(variant: SiteVariant) -> list[tuple[str, str, str, str]]:
    """What was done to it, what became of it, the detail, and how it is meant."""
    for found in variant.joined:
        if any(each.id.startswith(_OTHER_FAULTS) and each.outcome not in IDLE for each in found.store.outcomes):
            table = hardships(_alone(found))
            return [(name, cell.text, cell.hint, cell.tone) for name, cell in zip(table.header[1:], table.rows[0][1:], strict=True)]
    return []


def _known(variant: SiteVariant, content: SiteContent) -> list[ListedFailure]:
    store = content.stores.get(variant.store)
    failed = {each.id for found in variant.found for each in found.store.outcomes if each.outcome is Outcome.KNOWN_FAIL}
    return [
        ListedFailure(case, known.issue, known.until, any(f"{each}/".startswith(f"{case}/") for each in failed))
        for case, known in (store.known_failures if store else {}).items()
        if variant.variant in known.variants
    ]


def _differing(variant: SiteVariant) -> Iterator[tuple[JoinedResult, dict[str, str]]]:
    """The settings of other results that differ from those that are shown."""
    shown = variant.best.store.settings
    for found in variant.joined:
        other = {name: value for name, value in found.store.settings.items() if shown.get(name) != value}
        if found is not variant.best and other:
            yield found, other


@dataclass(frozen=True)
class InRun:
    found: JoinedResult
    shown: int
    """Capabilities that the variant was shown to have."""
    losses: tuple[Loss | None, ...]
    """The loss for each of `losses.COLUMNS`; None where the fault did not strike."""


def history_of(variant: SiteVariant) -> list[InRun]:
    """The preferred run first."""
    history = []
    for found in variant.found:
        losses = losses_of(found.store)
        shown = sum(each.shown for each in answers_of(found.store).values())
        history.append(InRun(found, shown, tuple(losses.get(name) for name in COLUMNS)))
    return history
