"""How the failovers of a fault went: who promoted another node, and when the loss was detected and another one elected."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from storeproof.result.measured.cluster_round import ClusterRoundRecord
from storeproof.units import seconds


def promoted_by_storeproof(rounds: Sequence[ClusterRoundRecord]) -> bool:
    """Whether it promoted a node: the time until then is without detecting the loss. False where the rounds do not tell."""
    return any(each.failover is not None and each.failover.promoted_by == "storeproof" for each in rounds)


def after(second: float, word: str = "") -> str:
    """When, as told: some faults take a second until they have struck, and are noticed before. `word`: stands before a time."""
    return f"{word} {seconds(second)}".strip() if second > 0 else "as the fault struck"


def failover_in_words(rounds: Sequence[ClusterRoundRecord]) -> str:
    """By the medians of the rounds that tell: `detected 1.1 s, elected 1.3 s`, both after the fault; empty where none tells."""
    if promoted_by_storeproof(rounds):
        return "promoted by storeproof"
    parts = [each.failover for each in rounds if each.failover is not None]
    times = {"detected": [each.detected_second for each in parts], "elected": [each.elected_second for each in parts]}
    known = {word: [each for each in found if each is not None] for word, found in times.items()}
    told = [f"{word} {after(median(found))}" for word, found in known.items() if found]
    return ", ".join(told) or ("promoted by the store" if parts else "")
