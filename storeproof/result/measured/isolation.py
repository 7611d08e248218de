"""The transactions of one mix at one level, and the anomalies among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from storeproof.check import IsolationAnomaly, explain, forbidden
from storeproof.history import RequestOutcome, Transaction
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

    @classmethod
    def of(cls, name: str, transaction: Transaction, origin: int) -> Self:
        """`origin`: when the first of those shown began."""
        ended = transaction.completed
        return cls(
            name=name,
            client=transaction.client,
            outcome=transaction.outcome,
            began_us=round((transaction.invoked - origin) / 1e3, 1),
            ended_us=None if ended is None else round((ended - origin) / 1e3, 1),
            accesses=[AccessShown(writes=each.action == "write", record=each.key, version=each.version) for each in transaction.accesses],
        )


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

    @classmethod
    def of(cls, found: IsolationAnomaly, transactions: Sequence[Transaction], guarantees: Guarantees, nodes: Sequence[str]) -> Self:
        """An anomaly of a history, of a store that guarantees this. `nodes`: as `explain` has them."""
        place = {number: place for place, number in enumerate(found.transactions)}
        shown = [transactions[number] for number in place]
        origin = min(each.invoked for each in shown)
        steps = ((place[each.source], place[each.target], each) for each in found.edges)
        return cls(
            kind=found.kind,
            order=found.order,
            forbidden=forbidden(guarantees, found),
            after=found.after,
            transactions=[TransactionShown.of(f"T{number}", each, origin) for number, each in enumerate(shown, 1)],
            steps=[CycleStep(source=source, target=target, kind=each.kind, record=each.key) for source, target, each in steps],
            story=explain(found, transactions, nodes),
        )


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
