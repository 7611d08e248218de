"""Other faults: crash at first start, full disk, damaged files. No durability guarantee covers them, and they happen to every store."""

from __future__ import annotations

from dataclasses import replace

from storeproof.report import formatting
from storeproof.report.tables import Cell, Table, anchor, outcome_cell
from storeproof.result.model import OutcomeRecord, Result

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
            cells.append(_cell(each, f"#{anchor(store, each.outcome)}") if each else Cell("–", "dim"))
        rows.append(cells)
    return Table(("store:variant", *(_CASES[case] for case in cases)), rows, "Nothing else was done to a store in this run.")


def damage(found: OutcomeRecord) -> Cell | None:
    """What came of damaged files, where it was bad: whatever a store claims, data that no client wrote is red, and data that is missing
    without a word is amber."""
    if (counts := found.damage) is None:
        return None
    if counts.made_up:
        return Cell(f"✘ wrong data in {counts.made_up} of {counts.rounds}", "bad", hint=found.detail)
    if counts.silent:
        return Cell(f"✗ silent loss in {counts.silent} of {counts.rounds}", "near", hint=found.detail)
    return None


def _cell(found: OutcomeRecord, link: str) -> Cell:
    bad = damage(found)
    return outcome_cell(found.outcome, link=link, hint=found.detail) if bad is None else replace(bad, link=link)
