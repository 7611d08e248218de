"""What each fault cost, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storeproof import units
from storeproof.report.formatting import name_of
from storeproof.report.parts.losses import Loss, gravest, loss_of, struck_during
from storeproof.report.tables import Cell, Table, outcome_cell
from storeproof.result.model import Result

_HEADER: Final = (
    "verdict", "operations lost of acknowledged", "share", "promised", "records found", "faults", "share that loses anything, 95 %",
    "back after: least · median · most",
)  # fmt: skip


def faults(result: Result) -> Table:
    return fault_table(
        ("store:variant", "guarantee", "outcome"),
        [
            (
                [Cell(name_of(store), "strong"), Cell(each.guarantee), outcome_cell(each.outcome)],
                loss_of(each, store),
                [
                    Cell(units.whole(each.unknown)),
                    *(Cell(tell(each)) for tell in (struck_during, gravest)),
                    Cell(each.detail or "–", "" if each.detail else "dim"),
                ],
            )
            for store in result.stores
            for each in store.durability.guarantees
        ],
        ("unknown", "struck during", "gravest loss", "detail"),
    )


def fault_table(first: Sequence[str], struck: Sequence[tuple[Sequence[Cell], Loss, Sequence[Cell]]], last: Sequence[str]) -> Table:
    """A row for each fault, between cells that say which it is and cells that say more, under headings of their own."""
    numbers = frozenset(len(first) + place for place in (1, 2, 5, 7))
    rows = [[*before, *_cells(loss), *after] for before, loss, after in struck]
    return Table((*first, *_HEADER, *last), rows, "No fault was struck in this run.", numbers)


def _cells(loss: Loss) -> list[Cell]:
    record = loss.record
    return [
        Cell(loss.text, loss.tone),
        Cell(loss.lost.counts),
        Cell(loss.lost.percent),
        Cell(loss.promise),
        Cell(loss.found or "–", loss.tone if loss.found else "dim"),
        Cell(str(record.rounds)),
        Cell(loss.bound),
        Cell(loss.back),
    ]
