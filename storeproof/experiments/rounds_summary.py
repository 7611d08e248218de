"""What the sums over rounds of strikes have in common, whatever clients did in them."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from storeproof.blame import CaseEnding
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.summary import Summary
from storeproof.result.measured.cluster_round import ClusterRoundRecord
from storeproof.spec import Target
from storeproof.spec.guarantee import GuaranteeName, NodeGuaranteeName


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


@dataclass(kw_only=True)
class WorkloadSummary(RoundsSummary):
    """Sums over rounds that are judged each by itself, in a run and again from their evidence."""

    idle: int = 0
    """Rounds before whose strike nothing was acknowledged: they show nothing."""

    @classmethod
    @abstractmethod
    def of(cls, target: Target, guarantee: str) -> Self:
        """That of the rounds of a guarantee's faults, before the first."""

    def judge(self, struck: StruckRound) -> int:
        """Count a round; returns how many different records were acknowledged before its strike.

        Raises:
            ValueError: it is none that the workload makes.
        """
        records = self.judge_round(struck)
        self.idle += not records
        return records

    @abstractmethod
    def judge_round(self, struck: StruckRound) -> int:
        """As `judge`, of what was found in it."""

    @property
    def right(self) -> CaseEnding:
        """How the case ends if nothing is wrong."""
        return CaseEnding.RIGHT if self.rounds and not self.idle else CaseEnding.NOTHING_AT_RISK

    def idle_rounds(self) -> Iterator[str]:
        """The part about them; nothing without any."""
        if self.idle:
            yield f"nothing was acknowledged before {self.idle} of the faults"

    def excused(self, target: Target) -> bool:  # noqa: ARG002 - most findings are held against any variant
        """Whether the variant declares what was found as possible."""
        return False

    def promised(self, target: Target, guarantee: GuaranteeName | NodeGuaranteeName) -> bool:
        """Whether the findings break what the variant claims."""
        return target.configuration.promises(guarantee) and not self.excused(target)


def in_rounds(where: str, found: Sequence[str]) -> list[str]:
    """The findings of a round with its name before each."""
    return [f"{where}: {each}" for each in found]
