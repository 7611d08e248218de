"""Outages as the pages show them: what clients saw of a crash, a pause and a restart."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof import units
from storeproof.report.formatting import MARKS
from storeproof.result.model import StoreResult
from storeproof.site.names import outage_anchor

_DEEDS = {"crash": "kill -9 and a start at once", "pause": "halted for a second", "restart": "stopped cleanly and started"}


@dataclass(frozen=True)
class OutageRow:
    """One outage of one variant."""

    anchor: str
    fault: str
    outcome: str
    unavailable: str
    errors: int
    p99: tuple[str, str, str]
    """Before, during and after it."""
    lost: str
    tone: str
    """Of what was lost."""
    load: str


def outage_rows(store: StoreResult) -> list[OutageRow]:
    """All outages of a variant, each fault once."""
    found: dict[str, OutageRow] = {}
    for each in store.outages:
        came_back = any(event.name == "back" for event in each.events)
        lost = f"{units.whole(each.acknowledged)} not read back" if each.lost is None else f"{each.lost:,} of {each.acknowledged:,}"
        promised = "" if each.claimed or not each.lost else ", not promised"
        found.setdefault(
            each.fault,
            OutageRow(
                anchor=outage_anchor(store.store, store.variant, each.fault),
                fault=_DEEDS[each.fault],
                outcome=f"{MARKS[each.outcome]} {each.outcome}",
                unavailable=("" if came_back else "≥ ") + units.seconds(each.unavailable_seconds),
                errors=each.errors,
                p99=(units.micros(each.before.p99_us), units.micros(each.during.p99_us), units.micros(each.after.p99_us)),
                lost=lost + promised,
                tone="" if each.lost is None else "good" if not each.lost else "bad" if each.claimed else "near",
                load=f"{units.plural(each.clients, 'client')}, {each.rate} requests/s",
            ),
        )
    return list(found.values())
