"""What the evidence of any round must satisfy before it is judged again, on a single store and on a cluster."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from storeproof.evidence import AuditEvidence, EvidenceDamaged, StoreEvidence
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.history import Place


def check_follows(store: StoreEvidence, number: int, summary: DurabilitySummary, where: str) -> None:
    """Raises `EvidenceDamaged`: the round, counted from 1, comes after one that ends the rounds on its store."""
    if summary.over or (number > 1 and store.rounds[number - 2].spoiled):
        raise EvidenceDamaged(f"{where} follows one after which there is none")


def last_in_order(times: Sequence[int], last: int, where: str) -> int:
    """The last of a round's times. `last`: that of the round before. Raises `EvidenceDamaged`: they are not in order."""
    if list(times) != sorted(times) or times[0] < max(last, 1):
        raise EvidenceDamaged(f"{where} has times that are not in order")
    return times[-1]


def check_read(due: Collection[Place], audit: AuditEvidence, where: str) -> None:
    """Raises `EvidenceDamaged`: the keys that were read back are not those that had to be."""
    if differing := set(due) ^ audit.seen.keys():
        raise EvidenceDamaged(f"{where}: {len(differing)} keys were to be read back and were not, or the reverse")
