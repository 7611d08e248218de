"""Other faults: crash at first start, full disk, damaged files. No durability guarantee covers them, and they happen to every store."""

from __future__ import annotations

from storeproof.report import formatting
from storeproof.report.tables import Cell, Table, anchor, outcome_cell
from storeproof.result.model import Result

_CASES = {
    "durability.bootstrap/process_kill": "killed during its first start",
    "durability.bootstrap/power_cut": "power cut during its first start",
    "durability.full_disk": "disk full",
    "durability.corruption/flip": "bytes of its files changed",
    "durability.corruption/truncate": "a file cut short",
}


def hardships(result: Result) -> Table:
    """Stores by what was done; without rows where nothing of it was asked of any store."""
    done = {each.id for store in result.stores for each in store.outcomes}
    cases = [case for case in _CASES if case in done]
    rows = []
    for store in result.stores if cases else ():
        cells = [Cell(formatting.name_of(store), "strong")]
        found = {each.id: each for each in store.outcomes}
        for case in cases:
            each = found.get(case)
            link = anchor(store, each.outcome) if each else ""
            cells.append(outcome_cell(each.outcome, link=link, hint=each.detail) if each else Cell("–", "dim"))
        rows.append(cells)
    return Table(("store:variant", *(_CASES[case] for case in cases)), rows, "Nothing else was done to a store in this run.")
