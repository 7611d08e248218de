"""The tables of a decision."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.report.decision import words
from storeproof.report.decision.links import Links, anchor
from storeproof.report.tables import Cell, Table
from storeproof.result.needs.costs import Cost
from storeproof.result.needs.decision import Candidate, Decision
from storeproof.result.needs.need import Need
from storeproof.units import amount, size, times


def overview(candidates: Sequence[Candidate], wanted: Sequence[Need], links: Links) -> Table:
    """Candidates by needs, in their order; every cell leads to its evidence."""
    rows = []
    for each in candidates:
        verdict = words.mark(each)
        cells = [Cell(f"{words.MARKS[verdict]} {each.name}", words.TONES[verdict], f"#{anchor(each)}")]
        for found in each.judged:
            hint = f"{found.verdict}: {found.reason}"
            cells.append(Cell(words.MARKS[found.verdict], words.TONES[found.verdict], links.evidence(each, found), hint))
        rows.append(cells)
    header = [f"{words.need(each)}{'' if each.must else ', wished for'}" for each in wanted]
    return Table(["candidate", *header], rows, "There are no candidates.")


def front(decision: Decision) -> Table:
    """The candidates that no other beats."""
    rows = [
        [
            Cell(each.name, "strong", f"#{anchor(each)}"),
            Cell(", ".join(words.need(found.need) for found in (*each.missed, *each.open)) or "nothing"),
            Cell("not tried" if each.lost is None else each.lost.percent),
            Cell("not known" if each.headroom is None else f"{times(each.headroom)} ×"),
            Cell("not known" if each.per_month is None else amount(each.per_month)),
        ]
        for each in decision.front
    ]
    header = ["candidate", "lacks, or has not shown", "writes lost in a power cut", "smallest headroom", "cost per month"]
    return Table(header, rows, "", frozenset({2, 3, 4}))


def costs(candidate: Candidate) -> Table:
    """By role, from the reader's own prices."""
    return Table(
        ["role", "store", "per million operations", "per month", "cores busy", "memory", "disk", "licence per month"],
        [_cost(each) for each in candidate.costs],
        "No prices were given.",
        frozenset(range(2, 8)),
    )


def _cost(each: Cost) -> list[Cell]:
    unknown = each.unknown or "not known"

    def money(value: float | None) -> Cell:
        return Cell(unknown, "dim") if value is None else Cell(amount(value))

    def of_bytes(value: float | None) -> Cell:
        return Cell("not known", "dim") if value is None else Cell(size(round(value)))

    return [
        Cell(each.role, "strong"),
        Cell(each.target),
        money(each.per_million),
        money(each.per_month),
        Cell("–" if each.cores is None else f"{each.cores:.2g}"),
        of_bytes(each.memory_bytes),
        of_bytes(each.disk_bytes),
        Cell(amount(each.licence_per_month)),
    ]
