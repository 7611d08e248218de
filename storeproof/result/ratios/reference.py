"""The ratio of each number to that of one store: the fastest of those that it may be compared with, or one that is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storeproof.result.compare import PLAN, Pair, Side, pair_of
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from storeproof.result.ratios.noise import noise_of

_STORES_DIFFER: Final = frozenset({"engine", "loaded", "payload_bytes"})
"""In which measurements of two stores may differ although the same was asked of both: a named reference is found all the same, and the
ratio refused with the difference."""


@dataclass(frozen=True)
class ToReference:
    reference: str
    """`store:variant`; empty where there is none."""
    pair: Pair | None
    """Its ratio; None for the reference itself, and where there is none."""

    @property
    def itself(self) -> bool:
        """Whether the number is the reference."""
        return bool(self.reference) and self.pair is None


def to_reference(result: Result, measured: Sequence[tuple[StoreResult, Measurement]], named: str = "") -> list[ToReference]:
    """For each of these measurements of one workload. The fastest is the one with the highest median among those that are valid and do not
    drift, of the same proven durability, measured in the same way; a single one is compared with nothing.

    Args:
        named: `store:variant` of the reference of all.
    """
    floors = noise_of(result)
    sides = [Side(result, store, floors) for store, _ in measured]
    candidates: dict[tuple[Any, ...], list[int]] = {}
    for number, (side, (_, each)) in enumerate(zip(sides, measured, strict=True)):
        candidates.setdefault(_group(side, each, named=bool(named)), []).append(number)
    found = [ToReference("", None)] * len(measured)
    for numbers in candidates.values():
        sound = [number for number in numbers if not measured[number][1].invalid and not measured[number][1].trend.drifting]
        if named:
            references = [number for number in numbers if sides[number].name == named]
        else:
            references = sorted(sound, key=lambda number: -measured[number][1].throughput.median)
        if not references or len(numbers) < 2:
            continue
        best = references[0]
        for number in numbers:
            pair = None
            if number != best:
                names = (sides[number].name, sides[best].name)
                pair = pair_of(sides[number], measured[number][1], sides[best], measured[best][1], names=names)
            found[number] = ToReference(sides[best].name, pair)
    return found


def _group(side: Side, measured: Measurement, *, named: bool) -> tuple[Any, ...]:
    """Equal for those that have one reference."""
    plan = tuple(getattr(measured, field) for field in PLAN if not (named and field in _STORES_DIFFER))
    return plan if named else (side.store.durability.proven, side.store.topology, *plan)
