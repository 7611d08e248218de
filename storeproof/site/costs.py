"""What each durability setting costs: the rates of a store's variants in one run, each as a share of the fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.report.answer_table import column_of
from storeproof.report.tables import workloads
from storeproof.result.compare import Pair, Side, pair_of
from storeproof.result.measurement import Measurement
from storeproof.result.ratios.noise import noise_of
from storeproof.run_command import RunCommand
from storeproof.site.sources import SourceResult

WRITES: Final = ("single-put-distinct-100", "hash10-put", "document10-insert-1", "nested-put", "row-load", "ycsb-a")
"""The workloads that write, in the order in which they are preferred."""
_MOST: Final = 3
_ABOUT: Final = frozenset({"durability"})
"""What the sides may differ in, here and nowhere else: it is what is asked."""


@dataclass(frozen=True)
class VariantCost:
    side: Side
    measured: Measurement
    to_fastest: Pair | None
    """Its rate to that of the fastest; None for the fastest itself."""


@dataclass(frozen=True, eq=False)
class CostTable:
    """One workload in one run, on two or more variants of a store: the fastest first, invalid numbers last."""

    source: SourceResult
    workload: str
    title: str
    clients: int
    rows: tuple[VariantCost, ...]

    @property
    def variants(self) -> frozenset[str]:
        return frozenset(each.side.store.configuration for each in self.rows)


def cost_tables(sources: Sequence[SourceResult], store: str) -> list[CostTable]:
    """Of a store: the runs with most variants first, and in each the preferred workloads. Of runs that measured the same, the first."""
    found: dict[tuple[str, frozenset[str]], CostTable] = {}
    for source in sources:
        for table in _of_run(source, store):
            found.setdefault((table.workload, table.variants), table)
    return sorted(found.values(), key=lambda each: -len(each.rows))


def foremost(tables: Sequence[CostTable], variant: str = "") -> list[CostTable]:
    """The tables that a page shows: of a variant, the ones that have it first."""
    return sorted(tables, key=lambda each: variant not in each.variants)[:_MOST]


def command(store: str) -> str:
    """What would measure it: all variants, with the correctness and the durability that a comparison needs."""
    chosen = "test_guarantee or stateful.single_key/ or performance.single-put-distinct-100/"
    return str(RunCommand(store=[f"{store}:all"], scale="standard", keyword=chosen))


def _of_run(source: SourceResult, store: str) -> Iterator[CostTable]:
    if sum(each.store == store for each in source.result.stores) < 2:
        return
    of_workload = workloads(source.result)
    for name in WRITES:
        pairs = [pair for pair in of_workload.get(name, ()) if pair[0].store == store]
        column = column_of(pairs)
        if len({each.configuration for each, _ in column}) > 1:
            floors = noise_of(source.result)
            sides = [(Side(source.result, each, floors), measured) for each, measured in column]
            sides.sort(key=lambda both: (bool(both[1].invalid), -both[1].throughput.median))
            fastest = sides[0]
            rows = [VariantCost(side, measured, None if side is fastest[0] else _to(side, measured, *fastest)) for side, measured in sides]
            yield CostTable(source, name, fastest[1].title, fastest[1].clients, tuple(rows))


def _to(side: Side, measured: Measurement, fastest: Side, best: Measurement) -> Pair:
    return pair_of(side, measured, fastest, best, _ABOUT, (side.name, fastest.name))
