"""The data of the scripts: one compact JSON, inside the pages, so that they work from disk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from storeproof.check import is_at_least
from storeproof.outcome import SHOWN, Outcome
from storeproof.report.parts.first_screen import fault_summary, role_summary, speed_summary
from storeproof.report.parts.losses import COLUMNS
from storeproof.report.parts.roles import label_of
from storeproof.report.parts.speeds import SPEEDS
from storeproof.report.parts.stale_reads import stale_of
from storeproof.result.compare import Pair, Side, pair_of, sides_of
from storeproof.result.measurement import Measurement
from storeproof.result.model import FORMAT
from storeproof.result.part import ResultPart
from storeproof.result.product import short_product
from storeproof.site.answers import LETTERS, letters
from storeproof.site.isolation_levels import LevelShown
from storeproof.site.joined_results import SiteVariant
from storeproof.site.names import capability_page, loss_anchor, number_anchor, run_page, slug, variant_page
from storeproof.site.site_content import SiteContent
from storeproof.site.sources import SourceResult
from storeproof.site.speeds import SpeedTable
from storeproof.spec.guarantee import FAULT_WORDS, NETWORKED
from storeproof.spec.isolation import Guarantees

_ISOLATION: Final[tuple[Guarantees, ...]] = ("read_committed", "snapshot_isolation", "serializable", "strict_serializable")
"""The isolation levels that the first screen asks for."""
_ESCAPED: Final = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
"""What could end a script element, or a line of one."""


def as_script(value: Any) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPED)


def payload(content: SiteContent) -> dict[str, Any]:
    """All that the first screen, the search and the comparison show."""
    position = {id(source): number for number, source in enumerate(content.sources)}
    tables = {position[id(table.source)]: table for table in content.tables}
    main = content.main
    return {
        "formats": [FORMAT],
        "letters": LETTERS,
        "roles": [[name, label_of(name), _title(content, name), slug(name)] for name in content.profiles],
        "faults": [[name, *FAULT_WORDS[name]] for name in COLUMNS],
        "clusters": [[name, *FAULT_WORDS[name]] for name in NETWORKED],
        "isolation": list(_ISOLATION),
        "speeds": [list(each) for each in SPEEDS.items()],
        "paced": {"rates": content.paced.rates, "run": position[id(content.paced.source)]},
        "runs": [_run(source, tables.get(number)) for number, source in enumerate(content.sources)],
        "run": position[id(main.source)] if main else None,
        "groups": {name: each.title for name, each in content.groups.items()},
        "capabilities": [_capability(content, name) for name in content.capabilities],
        "variants": [_variant(each, content, position, tables) for each in content.variants],
    }


def ratios(content: SiteContent) -> list[list[Any]]:
    """Of the speeds of the first screen: [speed, a, b, middle, low, high, bound, verdict] or [speed, a, b, reason]."""
    found: list[list[Any]] = []
    for each in speed_ratios(content.main) if content.main else ():
        ratio = each.pair.ratio
        if ratio is None:
            found.append([each.column, each.a, each.b, "; ".join(each.pair.refused)])
        else:
            numbers = (round(value, 3) for value in (ratio.middle, ratio.low, ratio.high))
            found.append([each.column, each.a, each.b, *numbers, each.pair.bound, each.pair.verdict])
    return found


def _compact(summary: ResultPart) -> dict[str, Any]:
    """As a result has it, without what is as it is by default."""
    return summary.model_dump(mode="json", exclude_defaults=True)


def _title(content: SiteContent, profile: str) -> str:
    found = content.spec.profiles.get(profile)
    return found.title if found else profile


def _run(source: SourceResult, table: SpeedTable | None) -> dict[str, Any]:
    result = source.result
    return {
        "id": result.run.id,
        "name": source.name,
        "scale": result.run.scale,
        "date": result.run.started[:10],
        "edition": result.edition.version,
        "page": run_page(result.run.id),
        "clients": [column.clients for column in table.columns] if table else None,
    }


def _capability(content: SiteContent, name: str) -> list[str]:
    """Name and title, and its page where that is not called as it is."""
    page = capability_page(name)
    return [name, content.title(name), *([page] if page != f"capability/{name}.html" else [])]


def _variant(each: SiteVariant, content: SiteContent, position: dict[int, int], tables: dict[int, SpeedTable]) -> dict[str, Any]:
    answers = each.answers
    durability = each.durability
    speeds = {str(number): cells for number, table in tables.items() if any(cells := _cells(each, table))}
    return {
        "store": each.store,
        "variant": each.variant,
        "title": each.title,
        "product": short_product(each.title, each.version),
        "version": each.product,
        "page": variant_page(each.store, each.variant),
        "alone": all(found.store.topology == "single" for found in each.joined),
        "isolation": {wanted: _isolation(content.levels[each.name], wanted) for wanted in _ISOLATION},
        "claimed": durability.claimed,
        "proven": durability.proven,
        "run": position[id(answers.source)] if answers else None,
        "answers": letters(answers.store, content.capabilities) if answers else "",
        "roles": {name: _compact(role_summary(role)) for name, role in each.roles.items()},
        "losses": {
            name: _compact(fault_summary(each.losses[name][0]))
            | {"run": position[id(each.losses[name][1].source)], "at": loss_anchor(each.store, each.variant, name)}
            for name in (*COLUMNS, *NETWORKED)
            if name in each.losses
        },
        "speeds": speeds,
        "paced": content.paced.times.get(each.name, []),
        **_stale(each),
    }


def _isolation(levels: Iterable[LevelShown], wanted: Guarantees) -> str:
    """Of the levels that claim as much the best: `shown`, not refuted by any transaction; `open`, not tried; `refuted`; else `none`."""
    enough = [each.outcome for each in levels if each.guarantees is not None and is_at_least(each.guarantees, wanted)]
    if any(each in SHOWN for each in enough):
        return "shown"
    if None in enough:
        return "open"
    return "refuted" if any(each in (Outcome.FAIL, Outcome.KNOWN_FAIL) for each in enough) else "none"


def _stale(variant: SiteVariant) -> dict[str, Any]:
    """Of the preferred result that watched its reads: how many were stale, of how many, the greatest age in ms, and whether it does not
    declare them."""
    found = next((stale for each in variant.joined if (stale := stale_of(each.store)) is not None), None)
    return {"stale": [found.stale, found.reads, found.oldest_ms, found.broken]} if found else {}


def _cells(variant: SiteVariant, table: SpeedTable) -> list[dict[str, Any] | None]:
    found: list[dict[str, Any] | None] = []
    for column in table.columns:
        measured = column.cells.get(variant.name)
        if variant.name in column.apart:
            found.append({"apart": column.apart[variant.name]})
        elif measured is None:
            found.append(None)
        else:
            found.append(_compact(speed_summary(column, variant.name)) | {"at": number_anchor(variant.store, variant.variant, measured)})
    return found


@dataclass(frozen=True)
class SpeedRatio:
    """One variant to another in one of the speeds."""

    column: int
    """The number of the speed."""
    a: str
    b: str
    """Both as `store:variant`."""
    pair: Pair


def speed_ratios(table: SpeedTable) -> list[SpeedRatio]:
    """All pairs of variants that have a number, each pair once: a comes before b in the run."""
    sides = {side.name: side for side in sides_of(table.source.result)}
    found = []
    for position, column in enumerate(table.columns):
        names = [name for name in sides if name in column.cells]
        for at, a in enumerate(names):
            found += [SpeedRatio(position, a, b, _pair(sides[a], column.cells[a], sides[b], column.cells[b])) for b in names[at + 1 :]]
    return found


def _pair(a: Side, one: Measurement, b: Side, other: Measurement) -> Pair:
    return pair_of(a, one, b, other, names=(a.name, b.name))
