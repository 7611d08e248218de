"""What indexes cost, as a table: each workload with indexes against the same without."""

from __future__ import annotations

from storeproof.report import formatting
from storeproof.report.axes import setting
from storeproof.report.speed.ratios import ratio_text
from storeproof.report.tables import Cell, Table
from storeproof.result.model import Result
from storeproof.result.ratios.index_cost import IndexCost, index_costs


def index_table(result: Result) -> Table:
    """One line for each workload and number of clients; a column for each number of indexes."""
    costs = index_costs(result)
    counts = sorted({each.pair.a.indexes for each in costs})
    lines: dict[tuple[str, ...], dict[int, IndexCost]] = {}
    for each in costs:
        one = each.pair.a
        line = (one.workload, formatting.name_of(each.store), str(one.clients), setting(one) or "–")
        lines.setdefault(line, {})[one.indexes] = each
    rows = [
        [Cell(line[0], "strong"), *map(Cell, line[1:]), *(_cell(found.get(count)) for count in counts)]
        for line, found in sorted(lines.items(), key=lambda item: (item[0][0], int(item[0][2])))
    ]
    header = ("workload", "store:variant", "clients", "with", *(f"{formatting.indexes(count)} / none [95 %]" for count in counts))
    return Table(header, rows, "Nothing was measured with indexes and without.", frozenset({2, *range(4, 4 + len(counts))}))


def _cell(cost: IndexCost | None) -> Cell:
    if cost is None:
        return Cell("–", "dim")
    pair = cost.pair
    if pair.ratio is None:
        return Cell(f"no ratio: {'; '.join(pair.refused)}", "open")
    how = "paired by block" if pair.paired else "not paired: the rounds were not in the same blocks"
    text = ratio_text(pair.ratio, pair.bound)
    return Cell(text, hint=how) if pair.faster else Cell(f"{text} ≈", "dim", hint=f"{how}; {pair.verdict}")
