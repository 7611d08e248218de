"""What can go wrong between transactions, by the names of the literature, and the dependencies that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from storeproof.spec.isolation import AnomalyKind, AnomalyOrder

EdgeKind = Literal["ww", "wr", "rw", "process", "realtime"]
"""Why the source comes before the target in any serial order that explains both (Adya, "Weak Consistency", 1999, section 3.1).

`ww`: the target replaced a version of the source. `wr`: the target read a version of the source. `rw`: the source read a version that the
target replaced. `process`: the same client sent the source first. `realtime`: the source had completed before the target was invoked.
"""

CycleKind = Literal["G0", "G1c", "G-single", "G-nonadjacent", "G2-item", "G2"]


class Edge(NamedTuple):
    """A dependency of one transaction on another; both are indexes into the history."""

    source: int
    target: int
    kind: EdgeKind
    key: str = ""
    read: str | None = None
    """The version that was read, or None if there was no record; of `ww`, the one that was replaced."""
    written: str | None = None
    """The version that the target (of `wr`: the source) wrote."""
    predicate: bool = False
    """Of `rw`: the source read by a condition."""


@dataclass(frozen=True)
class IsolationAnomaly:
    """The smallest example of one kind of anomaly in a history; of equally small ones, the first to complete."""

    kind: AnomalyKind
    order: AnomalyOrder
    """The weakest that shows one of this kind: what reads and writes show alone is wrong whatever the times were."""
    transactions: tuple[int, ...]
    """Indexes into the history, in the order of the cycle."""
    edges: tuple[Edge, ...]
    """One from each transaction to the next, and from the last to the first; a lone transaction has one to itself."""
    after: int
    """The number of commits that had completed when the first example of this kind, small or not, was complete."""

    def __str__(self) -> str:
        return self.kind if self.order == "item" else f"{self.kind}-{self.order}"
