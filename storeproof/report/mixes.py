"""The operations of a mix, each by itself: what all of them together took says little of any one."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import Pair, setting
from storeproof.report.speed import numbers
from storeproof.report.tables import Cell, Table


def parts(measured: Sequence[Pair]) -> Table | None:
    """The latencies of each operation on each store; None for a workload of one operation."""
    if not any(each.parts for _, each in measured):
        return None
    header = (
        *("operation", "store:variant", "clients", "indexes", "with", "records"),
        *("mean", "p50", "p95", "p99", "p99.9", "max", "errors", "misses", "of a number"),
    )
    names = dict.fromkeys((part.name, part.operation) for _, each in measured for part in each.parts)
    rows = [
        [
            Cell(name if name == operation else f"{name} ({operation})", "strong"),
            Cell(formatting.name_of(store)),
            Cell(str(each.clients)),
            Cell(str(each.indexes)),
            Cell(setting(each) or "–"),
            Cell(units.whole(part.records)),
            *(Cell(units.micros(getattr(part.latency_us, point))) for point in ("mean", "p50", "p95", "p99", "p999", "max")),
            Cell(units.whole(part.errors), "bad" if part.errors else "dim"),
            Cell(units.whole(part.misses), "bad" if part.misses else "dim"),
            Cell(f"{numbers.at_least(each)}{numbers.mark(each)}", numbers.tone(each), hint="; ".join(numbers.reasons(each))),
        ]
        for name, operation in names
        for store, each in measured
        for part in each.parts
        if part.name == name
    ]
    return Table(header, rows, "Not measured.", frozenset({2, 3, *range(5, 14)}))
