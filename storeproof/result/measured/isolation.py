"""The transactions of one mix at one level, and the anomalies among them."""

from __future__ import annotations

from typing import Literal

from storeproof.history import RequestOutcome
from storeproof.result.part import ResultPart
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder, Guarantees


class AccessShown(ResultPart):
    """A read or a write of a record."""

    writes: bool
    record: str
    version: str | None
    """The write id; None: it was absent."""


class TransactionShown(ResultPart):
    """A transaction that has a part in an anomaly."""

    name: str
    """`T1` is the first in the cycle."""
    client: int
    outcome: RequestOutcome
    began_us: float
    """Microseconds since the first of those shown began."""
    ended_us: float | None
    """None: the reply to its commit was lost."""
    accesses: list[AccessShown]


class CycleStep(ResultPart):
    """Why one transaction comes before another."""

    source: int
    """Its place in `transactions`, from 0."""
    target: int
    kind: Literal["ww", "wr", "rw", "process", "realtime"]
    """`wr`: the target read what the source wrote. `ww`, `rw`: the target replaced what the source wrote, or what it read. `process`,
    `realtime`: the same client sent the source before, or it had ended when the target began."""
    record: str = ""


class AnomalySeen(ResultPart):
    """The smallest of its kind."""

    kind: AnomalyKind
    order: AnomalyOrder
    forbidden: bool
    """By what the store guarantees at the level."""
    after: int
    """Transactions that had been committed when the first of its kind was there to be seen."""
    transactions: list[TransactionShown]
    """In the order of the cycle, if it is one."""
    steps: list[CycleStep]
    story: list[str]
    """The steps in words, and what is wrong with them."""


class IsolationCounts(ResultPart):
    """One mix at one level."""

    level: Isolation
    mix: str
    guarantees: Guarantees
    """What the variant claims."""
    committed: int
    contended: int
    """Of those, how many used a record that another transaction wrote at the same time, or wrote one that another used."""
    rolled_back: int
    """By the store, or on purpose."""
    unknown: int
    anomalies: list[AnomalySeen]
    """One of each kind; none of those that are forbidden is left out."""
