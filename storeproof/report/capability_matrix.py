"""Capabilities by stores: what each was shown to do, group by group. A cell is a sign; its hint has the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.outcome import IDLE, SHOWN, Outcome
from storeproof.report import formatting
from storeproof.report.tables import Cell, Table
from storeproof.result.model import CapabilityResult, Result, StoreResult

_SILENT = (Outcome.UNSUPPORTED, Outcome.NOT_RUN, Outcome.EXCLUDED)
"""Outcomes of unclaimed capabilities that are not worth a colour."""

SIGNS: Final = " · ".join(f"{formatting.MARKS[each]} {formatting.MEANINGS[each]}" for each in reversed(Outcome))
"""What the signs mean, the best first."""


@dataclass(frozen=True)
class MatrixRow:
    capability: str
    cells: Sequence[Cell]
    """One per store."""
    outcomes: str
    """The names of all that is in the cells, for the filter."""
    anchor: str


@dataclass(frozen=True)
class RowGroup:
    name: str
    sums: Sequence[Cell]
    """How many of them each store was shown to have."""
    rows: Sequence[MatrixRow]


def matrix(result: Result) -> list[RowGroup]:
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(each.capability for store in result.stores for each in store.capabilities):
        groups.setdefault(name.partition(".")[0], []).append(name)
    found = [{each.capability: each for each in store.capabilities} for store in result.stores]
    return [
        RowGroup(group, [_sum(store, names) for store in result.stores], [_row([each.get(name) for each in found], name) for name in names])
        for group, names in groups.items()
    ]


def was_asked(result: Result) -> bool:
    """Whether the run tried any capability: one of workloads alone does not, and need not show all that it left out."""
    return any(each.outcome not in IDLE for store in result.stores for each in store.capabilities)


def as_table(result: Result) -> Table:
    """The same without the cases, for formats that have no links."""
    rows: list[Sequence[Cell]] = []
    for group in matrix(result):
        rows.append([Cell(group.name, "strong"), *group.sums])
        rows += [[Cell(row.capability, "code"), *row.cells] for row in group.rows]
    return Table(("capability", *(formatting.name_of(store) for store in result.stores)), rows, "The result holds no capabilities.")


def _sum(store: StoreResult, names: Sequence[str]) -> Cell:
    shown = sum(each.outcome in SHOWN for each in store.capabilities if each.capability in names)
    return Cell(f"{shown}/{len(names)}", "strong" if shown else "dim")


def _row(found: Sequence[CapabilityResult | None], name: str) -> MatrixRow:
    anchor = "-".join(f"capability-{name}".split())
    outcomes = {each.outcome for each in found if each is not None}
    return MatrixRow(name, [_cell(each, f"#{anchor}") for each in found], " ".join(sorted(outcomes)), anchor)


def _cell(found: CapabilityResult | None, link: str) -> Cell:
    if found is None:
        return Cell("", "dim", hint="not in this result")
    claimed = "" if found.claimed else "not claimed; "
    hint = f"{claimed}{formatting.WORDS[found.outcome]}: {found.passed} of {found.cases} cases passed"
    more = "" if found.passed in (0, found.cases) else f" {found.passed}/{found.cases}"
    silent = not found.claimed and found.outcome in _SILENT
    return Cell(f"{formatting.MARKS[found.outcome]}{more}", "dim" if silent else found.outcome.value, link, hint)
