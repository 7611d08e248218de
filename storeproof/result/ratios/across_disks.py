"""Compares one store on several disks of one run: its rates, and how long it waited for each kind of its I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from storeproof.result.anatomy import MeanWaits
from storeproof.result.compare import Comparison, Pair, Side, compare
from storeproof.stats.ratio import Ratio, paired_ratio_of

KINDS: Final = tuple(MeanWaits.model_fields)
_FEWEST: Final = 2
"""Blocks; one has no spread."""


@dataclass(frozen=True)
class WaitRatio:
    """The mean waits of one kind of I/O on two disks, and their ratio over the blocks in which both were seen, or why there is none."""

    kind: str
    a: float
    b: float
    """In microseconds."""
    ratio: Ratio | None
    refused: str = ""


def across_disks(sides: list[Side]) -> list[Comparison]:
    """Each two disks of each store and variant, in the order of the result, which is `sides`."""
    on_disks = [each for each in sides if each.store.disk is not None]
    return [compare(a, b, may_differ(a, b)) for a, b in combinations(on_disks, 2) if _configured(a) == _configured(b)]


def waits_of(pair: Pair) -> Iterator[WaitRatio]:
    """By kind, of those that were visible on both disks; nothing where the I/O was not watched."""
    one, other = pair.a.anatomy, pair.b.anatomy
    if one is None or other is None:
        return
    invalid = [f"{name}: not valid: {', '.join(each.invalid)}" for name, each in (("A", one), ("B", other)) if each.invalid]
    for kind in KINDS:
        a, b = getattr(one.mean_waits, kind), getattr(other.mean_waits, kind)
        if a is None or b is None:
            continue
        rounds = [(getattr(x, kind), getattr(y, kind)) for x, y in zip(one.by_round, other.by_round, strict=False)]
        both = [(x, y) for x, y in rounds if x and y]
        if invalid or not pair.paired or len(both) < _FEWEST:
            why = "; ".join(invalid) or f"seen in {len(both) if pair.paired else 0} blocks of both, and {_FEWEST} at least are needed"
            yield WaitRatio(kind, a, b, None, why)
        else:
            yield WaitRatio(kind, a, b, paired_ratio_of([x for x, _ in both], [y for _, y in both]))


def on_one_disk(a: Side, b: Side) -> bool:
    """Whether two disks of a run are one."""
    one, other = (each.result.environment.disks.get(each.store.disk or "") for each in (a, b))
    return one is not None and other is not None and one is not other and a.result is b.result and one.device == other.device


def _configured(side: Side) -> tuple[str, str]:
    return side.store.store, side.store.variant


def may_differ(a: Side, b: Side) -> frozenset[str]:
    """In what one store on two disks may differ. One store in one run has one durability, proven or not; where a disk has shown another,
    numbers are of unlike things."""
    alike = a.store.durability.proven == b.store.durability.proven
    return frozenset({"disk", "durability"} if alike else {"disk"})
