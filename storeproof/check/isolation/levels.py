"""What each isolation level forbids.

Adya, "Weak Consistency: A Generalized Theory and Optimistic Implementations for Distributed Transactions", MIT, 1999, chapters 3 and 4:
PL-2, PL-2+, PL-SI, PL-3, PL-SS; in short in Adya, Liskov, O'Neil, "Generalized Isolation Level Definitions", ICDE 2000. Cerone, Bernardi,
Gotsman, "A Framework for Transactional Consistency Models with Atomic Visibility", CONCUR 2015: what a transaction reads twice or has
written itself; parallel snapshot isolation, which loses no update and allows a long fork. Cerone, Gotsman, "Analysing Snapshot Isolation",
PODC 2016: each cycle that snapshot isolation allows has two adjacent `rw`. Daudjee, Salem, "Lazy Database Replication with Snapshot
Isolation", VLDB 2006: strong and strong session levels. The checker Elle has such a table in `consistency_model.clj`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from storeproof.check.isolation.anomaly import IsolationAnomaly
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder, Guarantees

Forbidden = frozenset[tuple[AnomalyKind, AnomalyOrder]]


def _in(order: AnomalyOrder, kinds: Iterable[AnomalyKind]) -> Forbidden:
    return frozenset((kind, order) for kind in kinds)


_COMMITTED: Final[tuple[AnomalyKind, ...]] = ("G0", "G1a", "G1b", "G1c", "own-writes")
_PARALLEL: Final[tuple[AnomalyKind, ...]] = (*_COMMITTED, "fuzzy-read", "lost-update", "G-single")
_SNAPSHOT: Final[tuple[AnomalyKind, ...]] = (*_PARALLEL, "G-nonadjacent")
_SERIAL: Final[tuple[AnomalyKind, ...]] = (*_SNAPSHOT, "G2-item", "G2")

FORBIDS: Final[Mapping[Guarantees, Forbidden]] = {
    "read_committed": _in("item", _COMMITTED),
    "parallel_snapshot_isolation": _in("item", _PARALLEL),
    "snapshot_isolation": _in("item", _SNAPSHOT),
    "strong_session_snapshot_isolation": _in("item", _SNAPSHOT) | _in("process", _SNAPSHOT),
    "strong_snapshot_isolation": _in("item", _SNAPSHOT) | _in("process", _SNAPSHOT) | _in("realtime", _SNAPSHOT),
    "serializable": _in("item", _SERIAL),
    "strong_session_serializable": _in("item", _SERIAL) | _in("process", _SERIAL),
    "strict_serializable": _in("item", _SERIAL) | _in("process", _SERIAL) | _in("realtime", _SERIAL),
}


def is_at_least(level: Guarantees, wanted: Guarantees) -> bool:
    """Whether a level forbids all that another one does. Of two that differ in what they order neither may, as `serializable` and
    `strong_snapshot_isolation`."""
    return FORBIDS[level] >= FORBIDS[wanted]


def strongest(seen: Collection[tuple[AnomalyKind, AnomalyOrder]]) -> list[Guarantees]:
    """The levels that forbid nothing of what was seen, without those that another of them is at least as strong as: one, or two of which
    neither forbids all that the other one does; none where even the weakest is refuted."""
    left = [level for level, kinds in FORBIDS.items() if kinds.isdisjoint(seen)]
    return [level for level in left if not any(FORBIDS[other] > FORBIDS[level] for other in left)]


def forbidden(level: Guarantees, anomaly: IsolationAnomaly) -> bool:
    """Whether a store at this level never shows it."""
    return (anomaly.kind, anomaly.order) in FORBIDS[level]
