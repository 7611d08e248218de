"""The four speeds of the first screen, of the site and of a run's report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from storeproof.report.answer_table import column_of, set_apart
from storeproof.report.formatting import name_of
from storeproof.report.tables import workloads
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result

SPEEDS: Final = {
    "single-get": "read a value",
    "single-put-distinct-100": "write a value",
    "nested-get": "read a document",
    "document10-insert-1": "insert a document",
}
"""The workloads with their headings."""


@dataclass(frozen=True)
class SpeedColumn:
    """One workload at one number of clients, without indexes."""

    workload: str
    clients: int
    """0 where it was not measured."""
    cells: dict[str, Measurement]
    """By `store:variant`."""
    apart: dict[str, str] = field(default_factory=dict)
    """Measurements that may not stand beside the others, and why; they are in no cell."""


def speed_columns(result: Result, wanted: Iterable[str] = SPEEDS) -> tuple[SpeedColumn, ...]:
    """One for each workload, in their order."""
    measured = workloads(result)
    columns = []
    for name in wanted:
        pairs = column_of(measured.get(name, ()))
        apart = set_apart(pairs)
        cells: dict[str, Measurement] = {}
        for store, each in pairs:
            if name_of(store) not in apart:
                cells.setdefault(name_of(store), each)
        columns.append(SpeedColumn(name, pairs[0][1].clients if pairs else 0, cells, apart))
    return tuple(columns)
