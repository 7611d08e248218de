"""What clients saw of a store that failed, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storeproof import units
from storeproof.report.formatting import name_of
from storeproof.report.gates import exceeded
from storeproof.report.tables import Cell, Table, outcome_cell
from storeproof.result.measured.outage import OutageRecord
from storeproof.result.model import Result

NOTE: Final = (
    "Clients put and get at a fixed rate, whatever becomes of the requests before, and a response counts from when its request was due. "
    "Unavailable: from the last answer before it was down to the first one after. Steady: from the fault until the median response of "
    "every 200 ms was again at most twice what it was before, or what one request in a hundred took before, for a second. "
    "Valid: schedule_lag_ms, how late the clients were by themselves (p99), and overload, the share of the requests that were unanswered "
    "when the fault struck."
)
DEEDS: Final = {"crash": "kill -9 and a start at once", "pause": "halted for a second", "restart": "stopped cleanly and started"}
"""What was done to the store, by fault."""
_HEADER = (
    "outcome", "unavailable", "errors", "p99 before", "p99 during", "p99 after", "steady after", "acknowledged writes lost", "valid",
)  # fmt: skip


def outages(result: Result) -> Table:
    return outage_table(
        ("store:variant", "fault"),
        [
            ([Cell(name_of(store), "strong"), Cell(each.fault, hint=DEEDS[each.fault])], each)
            for store in result.stores
            for each in store.outages
        ],
    )


def outage_table(first: Sequence[str], struck: Sequence[tuple[Sequence[Cell], OutageRecord]]) -> Table:
    """A row for each outage, behind cells that say which it is, under headings of their own."""
    numbers = frozenset(len(first) + place for place in range(1, 8))
    return Table((*first, *_HEADER), [[*cells, *_cells(each)] for cells, each in struck], "Nothing failed under load in this run.", numbers)


def _cells(struck: OutageRecord) -> list[Cell]:
    failing = exceeded(struck.gates)
    back = any(event.name == "back" for event in struck.events)
    steady = Cell("not seen", "open") if struck.degraded_seconds is None else Cell(units.seconds(struck.degraded_seconds))
    return [
        outcome_cell(struck.outcome, hint=struck.detail),
        Cell(("" if back else "≥ ") + units.seconds(struck.unavailable_seconds), "strong"),
        Cell(units.whole(struck.errors), "" if struck.errors else "dim"),
        *(Cell(units.micros(part.p99_us)) for part in (struck.before, struck.during, struck.after)),
        steady,
        _lost(struck),
        Cell(f"✘ {'; '.join(failing)}" if failing else "✔", "bad" if failing else "good"),
    ]


def _lost(struck: OutageRecord) -> Cell:
    if struck.lost is None:
        return Cell(f"{units.whole(struck.acknowledged)} not read back", "open")
    if not struck.lost:
        return Cell(f"0 of {units.whole(struck.acknowledged)}", "good")
    promised, tone = ("", "bad") if struck.claimed else (", not promised", "near")
    return Cell(f"{units.plural(struck.lost, 'record')}{promised}; {units.whole(struck.acknowledged)} acknowledged", tone)
