"""Each number as a ratio to that of one store: rates are of one machine, ratios are what another may expect too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof import units
from storeproof.printable import shortened
from storeproof.report import formatting
from storeproof.report.axes import Pair, setting, typical
from storeproof.report.speed import numbers
from storeproof.report.tables import Cell, Table
from storeproof.result.compare import IndexCost, index_costs
from storeproof.result.compare import Pair as Compared
from storeproof.result.model import Result
from storeproof.result.ratios.number_ratio import Bound
from storeproof.result.ratios.reference import ToReference, to_reference
from storeproof.stats.ratio import Ratio

_LONGEST: Final = 200
"""Letters of a reason below a table: a defect of a store may take a page, and the cell of the ratio has all of it."""

NOTE: Final = (
    "In brackets the 95 % interval, of the ratio within each block where the rounds were interleaved. ≈: no difference is shown, since "
    "the interval has 1 in it or the ratio is within the noise of its kind."
)


@dataclass(frozen=True)
class Beside:
    heading: str
    cells: Sequence[Cell]
    """One for each measurement."""
    reasons: str
    """Why some have none; empty where all have one."""


def ratio_text(ratio: Ratio, bound: Bound = "") -> str:
    """`0.61× [0.58, 0.64]`, `≥ 1.40× [1.32, 1.48]`."""
    return f"{bound} {_three(ratio.middle)}× [{_three(ratio.low)}, {_three(ratio.high)}]".lstrip()


def asked(result: Result, measured: Sequence[Pair]) -> bool:
    """Whether a ratio says something: of several stores, and not of an open loop, whose rate is what was offered."""
    return len(result.stores) > 1 and measured[0][1].load_model == "closed"


def beside(result: Result, measured: Sequence[Pair], against: str = "") -> Beside:
    """The ratio of every measurement of a workload; `against`: the store they are set against, where it is not the fastest."""
    found = to_reference(result, measured, against)
    why: dict[str, list[str]] = {}
    for (store, each), one in zip(measured, found, strict=True):
        if one.pair is not None and one.pair.ratio is None:
            more = ", ".join(filter(None, (units.plural(each.clients, "client"), formatting.indexes(each.indexes), setting(each))))
            why.setdefault("; ".join(one.pair.refused), []).append(f"{formatting.name_of(store)} ({more})")
    reasons = "; ".join(f"{_some(names)}: {shortened(reason, _LONGEST)}" for reason, names in why.items())
    return Beside(f"to {against or 'the fastest'} [95 %]", [_cell(one) for one in found], f"No ratio: {reasons}." if why else "")


def matrix(result: Result, workloads: Mapping[str, Sequence[Pair]], against: str = "") -> Table:
    """Workloads by stores: the ratio, and beside it the rate. Of a series what is typical of it, with the fewest indexes; without open
    loops."""
    names = [formatting.name_of(store) for store in result.stores]
    rows = []
    for workload, every in workloads.items():
        if not asked(result, every):
            continue
        fewest = min(each.indexes for _, each in every)
        shown = typical([pair for pair in every if pair[1].indexes == fewest])
        found = {formatting.name_of(pair[0]): (pair, one) for pair, one in zip(shown, to_reference(result, shown, against), strict=True)}
        if not any(one.reference for _, one in found.values()):
            continue
        one = shown[0][1]
        how = ", ".join(filter(None, (units.plural(one.clients, "client"), setting(one))))
        cells = [_with_rate(*found[name]) if name in found else Cell("–", "dim") for name in names]
        rows.append([Cell(f"{workload} ({how})", "strong"), *cells])
    return Table(("workload", *names), rows, "")


def _with_rate(pair: Pair, one: ToReference) -> Cell:
    cell, each = _cell(one), pair[1]
    rate = f"{numbers.at_least(each)}{units.short(each.throughput.median)}/s {numbers.mark(each)}"
    hint = "; ".join(filter(None, (cell.hint, *numbers.reasons(each))))
    return Cell(f"{cell.text} · {rate}", "bad" if each.invalid else cell.tone, hint=hint)


def _cell(one: ToReference) -> Cell:
    if one.itself:
        return Cell("1 ◂", "strong", hint="the others are set against this one")
    if one.pair is None:
        return Cell("–", "dim", hint="there is nothing to set it against")
    if one.pair.ratio is None:
        return Cell("no ratio", "dim", hint="; ".join(one.pair.refused))
    text = ratio_text(one.pair.ratio, one.pair.bound)
    alike = bool(one.pair.verdict)
    return Cell(f"{text} ≈" if alike else text, "dim" if alike else "", hint=_hint(one.reference, one.pair))


def _hint(reference: str, pair: Compared) -> str:
    how = "paired by block" if pair.paired else "not paired"
    verdict = pair.verdict.replace("A may", "this one may").replace("B may", f"{reference} may")
    return "; ".join(filter(None, (f"to {reference}, {how}", verdict)))


def _three(value: float) -> str:
    """With two digits behind the point as far as they matter."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _some(names: Sequence[str], most: int = 3) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


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
        [Cell(line[0], "strong"), *map(Cell, line[1:]), *(_cost_cell(found.get(count)) for count in counts)]
        for line, found in sorted(lines.items(), key=lambda item: (item[0][0], int(item[0][2])))
    ]
    header = ("workload", "store:variant", "clients", "with", *(f"{formatting.indexes(count)} / none [95 %]" for count in counts))
    return Table(header, rows, "Nothing was measured with indexes and without.", frozenset({2, *range(4, 4 + len(counts))}))


def _cost_cell(cost: IndexCost | None) -> Cell:
    if cost is None:
        return Cell("–", "dim")
    pair = cost.pair
    if pair.ratio is None:
        return Cell(f"no ratio: {'; '.join(pair.refused)}", "open")
    how = "paired by block" if pair.paired else "not paired: the rounds were not in the same blocks"
    text = ratio_text(pair.ratio, pair.bound)
    return Cell(text, hint=how) if pair.faster else Cell(f"{text} ≈", "dim", hint=f"{how}; {pair.verdict}")
