"""The site's evidence for other programs: `summary.json` and `summary.csv`."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Final

from storeproof.report.parts.losses import COLUMNS, Loss
from storeproof.report.parts.speeds import SPEEDS
from storeproof.result.measurement import Measurement
from storeproof.site.joined_results import JoinedResult, SiteVariant
from storeproof.site.names import number_anchor, run_page, variant_page
from storeproof.site.site_content import SiteContent

FORMAT: Final = "2.0"
_LOSS: Final = ("lost_operations", "at_least", "acknowledged", "faults", "promised", "run")
"""What is said of a fault, each in a column."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet may take for the beginning of a formula."""


def render_json(content: SiteContent) -> str:
    """One entry for each variant, as the first screen has it."""
    main = content.main
    return json.dumps(
        {
            "format": FORMAT,
            "runs": [
                {
                    "id": each.result.run.id,
                    "name": each.name,
                    "started": each.result.run.started,
                    "scale": each.result.run.scale,
                    "edition": each.result.edition.version,
                    "page": run_page(each.result.run.id),
                }
                for each in content.sources
            ],
            "speeds_of_run": main.source.result.run.id if main else None,
            "variants": [_entry(each, content) for each in content.variants],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def render_csv(content: SiteContent) -> str:
    """One line for each variant; in each column a fault or a speed, its run beside it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    losses = [f"{name}_{what}" for name in COLUMNS for what in _LOSS]
    speeds = [f"{name} {what}" for name in SPEEDS for what in ("per_second", "low", "high", "grade", "marks", "p99_us")]
    roles = [f"role {name}" for name in content.profiles]
    head = ("store", "variant", "version", "claimed", "proven", "capabilities_shown", "capabilities", "capabilities_run")
    writer.writerow([*head, *roles, *losses, "speeds_run", *speeds])
    for each in content.variants:
        entry = _entry(each, content)
        row: list[Any] = [entry[name] for name in ("store", "variant", "version", "claimed", "proven")]
        row += [entry["capabilities"][name] for name in ("shown", "of", "run")] if entry["capabilities"] else ["", "", ""]
        row += [entry["roles"].get(name, "") for name in content.profiles]
        for name in COLUMNS:
            lost = entry["losses"].get(name)
            row += [lost[what] for what in _LOSS] if lost else [""] * len(_LOSS)
        row.append(content.main.source.result.run.id if content.main and entry["speeds"] else "")
        for name in SPEEDS:
            speed = entry["speeds"].get(name)
            row += [speed[what] for what in ("per_second", "low", "high", "grade")] if speed else [""] * 4
            row += [" ".join(speed["marks"]), speed["p99_us"]] if speed else [""] * 2
        writer.writerow([_plain(cell) for cell in row])
    return text.getvalue()


def _entry(each: SiteVariant, content: SiteContent) -> dict[str, Any]:
    answers = content.answers[each.name]
    durability = each.durability
    return {
        "store": each.store,
        "variant": each.variant,
        "version": each.product,
        "page": variant_page(each.store, each.variant),
        "claimed": durability.claimed,
        "proven": durability.proven,
        "capabilities": {
            "shown": sum(answer.shown for answer in answers.values()),
            "of": len(answers),
            "run": each.answers.source.result.run.id,
        }
        if each.answers
        else None,
        "roles": {name: role.text.removeprefix("✔ ") for name, role in each.roles.items()},
        "losses": {name: _loss(*found) for name, found in each.losses.items() if name in COLUMNS},
        "speeds": {
            column.workload: _speed(each, column.cells[each.name], column.clients)
            for column in (content.main.columns if content.main else ())
            if each.name in column.cells
        },
    }


def _loss(loss: Loss, found: JoinedResult) -> dict[str, Any]:
    return {
        "lost_operations": loss.lost.operations,
        "at_least": loss.lost.at_least,
        "acknowledged": loss.lost.acknowledged,
        "faults": loss.record.rounds,
        "verdict": loss.state,
        "promised": loss.promised,
        "run": found.source.result.run.id,
    }


def _speed(variant: SiteVariant, measured: Measurement, clients: int) -> dict[str, Any]:
    rate = measured.throughput
    marks = [*(["at_least"] if measured.at_least else []), *(["drifting"] if measured.trend.drifting else [])]
    return {
        "per_second": round(rate.median, 1),
        "low": round(rate.low, 1),
        "high": round(rate.high, 1),
        "grade": measured.grade,
        "marks": [*marks, *(f"invalid:{name}" for name in measured.invalid)],
        "p99_us": measured.latency_us.p99,
        "clients": clients,
        "anchor": number_anchor(variant.store, variant.variant, measured),
    }


def _plain(cell: Any) -> Any:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
