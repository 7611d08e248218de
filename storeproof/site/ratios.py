"""How stores compare in the four speeds: ratios within one run, and none where one would mislead."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.result.compare import Pair, Side, pair_of, sides_of
from storeproof.result.measurement import Measurement
from storeproof.site.speeds import SpeedTable


@dataclass(frozen=True)
class SpeedRatio:
    """One variant to another in one of the speeds."""

    column: int
    """The number of the speed."""
    a: str
    b: str
    """Both as `store:variant`."""
    pair: Pair


def speed_ratios(table: SpeedTable) -> list[SpeedRatio]:
    """Of all pairs of variants that have a number, each pair once: a comes before b in the run."""
    sides = {side.name: side for side in sides_of(table.source.result)}
    found = []
    for position, column in enumerate(table.columns):
        names = [name for name in sides if name in column.cells]
        for at, a in enumerate(names):
            found += [SpeedRatio(position, a, b, _pair(sides[a], column.cells[a], sides[b], column.cells[b])) for b in names[at + 1 :]]
    return found


def _pair(a: Side, one: Measurement, b: Side, other: Measurement) -> Pair:
    return pair_of(a, one, b, other, names=(a.name, b.name))
