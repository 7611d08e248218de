"""What small results say of isolation levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storeproof.outcome import Outcome, Stage
from storeproof.result.measured.isolation import AccessShown, AnomalySeen, CycleStep, IsolationCounts, TransactionShown
from storeproof.result.model import OutcomeRecord
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder, Guarantees

MIXES = ("list-append", "many-keys", "predicates", "read-modify-write")


def seen(kind: AnomalyKind, order: AnomalyOrder = "item", *, forbidden: bool = True, after: int = 21) -> AnomalySeen:
    """An anomaly of two transactions, each of which did not see what the other one wrote."""
    shown = [
        TransactionShown(
            name=f"T{number}",
            client=number,
            outcome="ok",
            began_us=10.0 * number,
            ended_us=100.0 + number,
            accesses=[
                AccessShown(writes=False, record=read, version=None),
                AccessShown(writes=True, record=written, version=f"{number}:1"),
            ],
        )
        for number, read, written in ((1, "k0", "k1"), (2, "k1", "k0"))
    ]
    steps = [CycleStep(source=0, target=1, kind="rw", record="k0"), CycleStep(source=1, target=0, kind="rw", record="k1")]
    story = ["T1 found no record of k0; T2 wrote version 2:1 and committed."]
    return AnomalySeen(kind=kind, order=order, forbidden=forbidden, after=after, transactions=shown, steps=steps, story=story)


def level_case(
    level: Isolation,
    mix: str = MIXES[0],
    outcome: Outcome = Outcome.PASS,
    *anomalies: AnomalySeen,
    guarantees: Guarantees = "serializable",
    detail: str = "",
    **counts: int,
) -> OutcomeRecord:
    """The outcome of one mix at one level: of 300 transactions, 250 of them contended."""
    numbers = {"committed": 300, "contended": 250, "rolled_back": 9, "unknown": 0} | counts
    found = IsolationCounts(level=level, mix=mix, guarantees=guarantees, anomalies=list(anomalies), **numbers)
    case = isolation_case(level, mix)
    return OutcomeRecord(id=case, revision=1, stage=Stage.CORRECTNESS, outcome=outcome, detail=detail, seconds=0.1, isolation=found)


def level_cases(level: Isolation, mixes: Sequence[str] = MIXES, **about: Any) -> list[OutcomeRecord]:
    """All mixes at one level, none of which refutes anything."""
    return [level_case(level, mix, **about) for mix in mixes]
