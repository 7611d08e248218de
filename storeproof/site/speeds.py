"""The four speeds of the first screen. All numbers of a screen are of one run: machines differ, and so do scales and editions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.report.answer_table import column_of
from storeproof.report.formatting import name_of
from storeproof.report.tables import workloads
from storeproof.result.measurement import Measurement
from storeproof.site.sources import Source

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


@dataclass(frozen=True, eq=False)
class SpeedTable:
    """Those of one run."""

    source: Source
    columns: tuple[SpeedColumn, ...]
    """One for each of `SPEEDS`, in their order."""

    @property
    def valid(self) -> int:
        """How many valid numbers it has."""
        return sum(not each.invalid for column in self.columns for each in column.cells.values())


def speed_tables(sources: Sequence[Source]) -> list[SpeedTable]:
    """Of the runs that measured one of them, in their order."""
    tables = (SpeedTable(source, tuple(_column(source, name) for name in SPEEDS)) for source in sources)
    return [table for table in tables if any(column.cells for column in table.columns)]


def widest(tables: Sequence[SpeedTable]) -> SpeedTable | None:
    """The one with most valid numbers; of several the first. None where there is none."""
    return max(tables, key=lambda each: each.valid, default=None)


def _column(source: Source, workload: str) -> SpeedColumn:
    pairs = column_of(workloads(source.result).get(workload, ()))
    cells: dict[str, Measurement] = {}
    for store, measured in pairs:
        cells.setdefault(name_of(store), measured)
    return SpeedColumn(workload, pairs[0][1].clients if pairs else 0, cells)
