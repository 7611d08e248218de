"""What the sums over rounds of strikes have in common, whatever clients did in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from storeproof.experiments.summary import Summary
from storeproof.result.measured.cluster_round import ClusterRoundRecord


@dataclass(kw_only=True)
class RoundsSummary(Summary):
    """Sums over the judged rounds."""

    strikes: Counter[str] = field(default_factory=Counter)
    """The rounds of each fault, by its name."""
    wrong_rounds: Counter[str] = field(default_factory=Counter)
    """Those in which something is wrong."""
    cluster_rounds: list[ClusterRoundRecord] = field(default_factory=list)
    """Of a cluster: what the result keeps of each round, by node."""

    @property
    def rounds(self) -> int:
        """Their number."""
        return self.strikes.total()

    @property
    def over(self) -> bool:
        """Whether no other round follows, however many there should be."""
        return False

    def count_round(self, fault: str, *, wrong: bool, record: ClusterRoundRecord | None = None) -> str:
        """Count a round of a fault; returns what findings call it."""
        self.strikes[fault] += 1
        self.wrong_rounds[fault] += wrong
        self.cluster_rounds += [record] if record is not None else []
        return f"round {self.rounds} ({fault})"

    def by_fault(self, rounds: Counter[str]) -> str:
        """Of each fault in how many of its rounds it was: `power_cut 1 of 5, process_kill 0 of 5`."""
        return ", ".join(f"{name} {rounds[name]} of {struck}" for name, struck in self.strikes.items())


def in_rounds(where: str, found: Sequence[str]) -> list[str]:
    """The findings of a round with its name before each."""
    return [f"{where}: {each}" for each in found]
