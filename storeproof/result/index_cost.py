"""What indexes cost: the ratio of a workload with indexes to the same without, on one store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from storeproof.result.compare import PLAN
from storeproof.result.measurement import Measurement
from storeproof.result.model import StoreResult
from storeproof.result.number_ratio import NumberRatio, number_ratio


@dataclass(frozen=True)
class IndexCost:
    """One number of indexes against none."""

    store: StoreResult
    indexed: Measurement
    plain: Measurement
    found: NumberRatio
    """Indexed over plain: below 1, the indexes cost something."""
    paired: bool


def index_costs(stores: Iterable[StoreResult]) -> list[IndexCost]:
    """Of all stores and workloads that were measured with indexes and without."""
    costs = []
    for store in stores:
        plain = {_plan(each): each for each in store.measurements if not each.indexes}
        for each in store.measurements:
            beside = plain.get(_plan(each))
            if each.indexes and beside is not None:
                paired = _in_the_same_blocks(each, beside)
                names = (f"with {each.indexes}", "without")
                costs.append(IndexCost(store, each, beside, number_ratio(each, beside, paired=paired, names=names), paired))
    return costs


def _plan(measured: Measurement) -> tuple[Any, ...]:
    return (measured.workload, *(getattr(measured, field) for field in PLAN if field != "indexes"))


def _in_the_same_blocks(one: Measurement, other: Measurement) -> bool:
    """Since format 2.1, which was the first with a mean latency, the rounds of all numbers of indexes are in the same blocks."""
    recent = one.latency_us.mean is not None and other.latency_us.mean is not None
    return recent and len(one.rounds) == len(other.rounds)
