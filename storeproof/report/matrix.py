"""Capabilities by stores: what each was shown to do, group by group, with the cases that show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storeproof.outcome import SHOWN, Outcome, worst
from storeproof.report import formatting
from storeproof.report.tables import Cell, Table, outcome_cell
from storeproof.result.capabilities import cases_of
from storeproof.result.model import CapabilityResult, OutcomeRecord, Result, StoreResult

_SILENT = (Outcome.UNSUPPORTED, Outcome.NOT_RUN, Outcome.EXCLUDED)
"""Outcomes of unclaimed capabilities that are not worth a mention."""


@dataclass(frozen=True)
class Row:
    """One capability."""

    capability: str
    cells: Sequence[Cell]
    """One per store."""
    outcomes: str
    """The names of all that is in the cells, for the filter."""
    anchor: str
    evidence: Table
    """Cases by stores."""


@dataclass(frozen=True)
class Group:
    """Capabilities that belong together."""

    name: str
    sums: Sequence[Cell]
    """How many of them each store was shown to have."""
    rows: Sequence[Row]


def matrix(result: Result) -> list[Group]:
    """All groups, in the order of the result."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(each.capability for store in result.stores for each in store.capabilities):
        groups.setdefault(name.partition(".")[0], []).append(name)
    return [
        Group(group, [_sum(store, names) for store in result.stores], [_row(result.stores, name) for name in names])
        for group, names in groups.items()
    ]


def was_asked(result: Result) -> bool:
    """Whether the run tried any capability: one of workloads alone does not, and need not show all that it left out."""
    left_out = (Outcome.NOT_RUN, Outcome.EXCLUDED)
    return any(each.outcome not in left_out for store in result.stores for each in store.capabilities)


def as_table(result: Result) -> Table:
    """The same without the cases, for formats that have no links."""
    rows: list[Sequence[Cell]] = []
    for group in matrix(result):
        rows.append([Cell(group.name, "strong"), *group.sums])
        rows += [[Cell(row.capability, "code"), *row.cells] for row in group.rows]
    return Table(("capability", *(formatting.name_of(store) for store in result.stores)), rows, "The result holds no capabilities.")


def _sum(store: StoreResult, names: Sequence[str]) -> Cell:
    shown = sum(each.outcome in SHOWN for each in store.capabilities if each.capability in names)
    return Cell(f"{shown} of {len(names)}", "strong" if shown else "dim")


def _row(stores: Sequence[StoreResult], name: str) -> Row:
    anchor = f"capability-{name}"
    found = [next((each for each in store.capabilities if each.capability == name), None) for store in stores]
    outcomes = {each.outcome for each in found if each is not None}
    return Row(name, [_cell(each, f"#{anchor}") for each in found], " ".join(sorted(outcomes)), anchor, _evidence(stores, name))


def _cell(found: CapabilityResult | None, link: str) -> Cell:
    if found is None:
        return Cell("not in this result", "dim")
    hint = f"{found.outcome}: {found.passed} of {found.cases} cases passed"
    if not found.claimed and found.outcome in _SILENT:
        return Cell(f"{formatting.MARKS[found.outcome]} not claimed", "dim", link, hint)
    more = "" if found.passed in (0, found.cases) else f" {found.passed}/{found.cases}"
    return outcome_cell(found.outcome, more, link, hint)


def _evidence(stores: Sequence[StoreResult], name: str) -> Table:
    by_store = [cases_of(name, None, store.outcomes) for store in stores]
    numbers = sorted({number for cases in by_store for number in cases})
    rows = [[Cell(number, "code"), *(_case(cases.get(number, ())) for cases in by_store)] for number in numbers]
    return Table(("case", *(formatting.name_of(store) for store in stores)), rows, "No case was run.")


def _case(records: Iterable[OutcomeRecord]) -> Cell:
    found = list(records)
    outcome = worst(each.outcome for each in found)
    details = "\n".join(each.detail for each in found if each.detail)
    return Cell(f"{formatting.MARKS[outcome]} {outcome}" + (f"\n{details}" if details else ""), outcome.value)
