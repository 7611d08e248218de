"""What indexes cost: the ratio of a workload with indexes to the same without, on one store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from storeproof.result.compare import PLAN, Pair, pair_of, sides_of
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult

_ABOUT: Final = frozenset({"indexes", "durability"})
"""In what both sides may differ: one store in one run has one durability, proven or not."""


@dataclass(frozen=True)
class IndexCost:
    """One number of indexes against none."""

    store: StoreResult
    pair: Pair
    """Indexed over plain: below 1, the indexes cost something."""


def index_costs(result: Result) -> list[IndexCost]:
    """The costs of all stores and workloads that were measured with indexes and without."""
    costs = []
    for side in sides_of(result):
        plain = {_plan(each): each for each in side.store.measurements if not each.indexes}
        for each in side.store.measurements:
            beside = plain.get(_plan(each))
            if each.indexes and beside is not None:
                names = (f"with {each.indexes}", "without")
                costs.append(IndexCost(side.store, pair_of(side, each, side, beside, _ABOUT, names)))
    return costs


def _plan(measured: Measurement) -> tuple[Any, ...]:
    return (measured.workload, *(getattr(measured, field) for field in PLAN if field != "indexes"))
