"""The anomalies of a history, one of each kind."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from storeproof.check.isolation.anomaly import Edge, IsolationAnomaly
from storeproof.check.isolation.cycles import smallest_cycles
from storeproof.check.isolation.dependencies import Dependencies
from storeproof.history import Transaction
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder


def find_anomalies(transactions: Sequence[Transaction]) -> list[IsolationAnomaly]:
    """The smallest anomaly of each kind, in the weakest order that shows it; cycles last, the worst first.

    What another one implies is left out, as it is forbidden wherever that one is: the process and real-time forms of a kind that items
    show; `G-nonadjacent` beside `G-single` and worse; `G2` beside `G2-item`.

    Raises:
        NotAvailable: the compiled part is not installed.
        ValueError: two writes of one version, a read of one that no transaction wrote, or a client with two transactions at a time.
    """
    dependencies = Dependencies(transactions)
    commits = sorted(each.completed for each in transactions if each.outcome == "ok" and each.completed is not None)

    def end(edges: Sequence[Edge]) -> int:
        return max(dependencies.end(index) for edge in edges for index in edge[:2])

    def anomaly(kind: AnomalyKind, order: AnomalyOrder, edges: tuple[Edge, ...], seen: int) -> IsolationAnomaly:
        involved = dict.fromkeys(index for edge in edges for index in edge[:2])
        return IsolationAnomaly(kind, order, tuple(involved), edges, bisect_right(commits, seen))

    direct: dict[AnomalyKind, tuple[Edge, ...]] = {}
    for kind, edges in dependencies.found:
        if kind not in direct or end(edges) < end(direct[kind]):
            direct[kind] = edges
    return [
        *(anomaly(kind, "item", edges, end(edges)) for kind, edges in direct.items()),
        *(anomaly(kind, order, cycle, seen) for kind, order, cycle, seen in smallest_cycles(dependencies)),
    ]
