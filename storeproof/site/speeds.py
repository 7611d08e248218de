"""The speeds of the first screen by run. All numbers of a screen are of one run: machines differ, and so do scales and editions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from storeproof.report.parts.speeds import SpeedColumn, speed_columns
from storeproof.site.joined_results import SiteVariant
from storeproof.site.sources import SourceResult


@dataclass(frozen=True, eq=False)
class SpeedTable:
    source: SourceResult
    columns: tuple[SpeedColumn, ...]
    """One for each of the speeds, in their order."""

    @property
    def valid(self) -> list[int]:
        """How many valid numbers each column has."""
        return [sum(not each.invalid for each in column.cells.values()) for column in self.columns]


def speed_tables(sources: Sequence[SourceResult], variants: Sequence[SiteVariant]) -> list[SpeedTable]:
    """Of the runs that measured one of them, in their order; without the numbers of another server than the one whose row they would be in,
    such as an older version."""
    tables = []
    for source in sources:
        same = {each.name for each in variants if any(found.source is source for found in each.joined)}
        tables.append(SpeedTable(source, tuple(_only(same, column) for column in speed_columns(source.result))))
    return [table for table in tables if any(column.cells for column in table.columns)]


def _only(names: Collection[str], column: SpeedColumn) -> SpeedColumn:
    """The column with the cells of these variants."""
    cells = {name: cell for name, cell in column.cells.items() if name in names}
    return replace(column, cells=cells, apart={name: why for name, why in column.apart.items() if name in names})


def widest(tables: Sequence[SpeedTable]) -> SpeedTable | None:
    """The one with valid numbers in most columns, then with most of them; of several the first. None where there is none."""
    return max(tables, key=lambda each: (sum(map(bool, each.valid)), sum(each.valid)), default=None)
