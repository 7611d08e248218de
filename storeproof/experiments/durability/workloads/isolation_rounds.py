"""What transactions showed of a level in all rounds of one case: lost commits, and what the level forbids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from storeproof.blame import CaseEnding
from storeproof.check import contended, explain, find_anomalies, forbidden, lost_commits
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.fault_experiment import without_replies
from storeproof.experiments.isolation.isolation_summary import LEAST
from storeproof.experiments.rounds_summary import WorkloadSummary, in_rounds
from storeproof.history import RequestOutcome
from storeproof.spec import Target
from storeproof.spec.guarantee import NETWORKED
from storeproof.spec.interleaving import LEVELS, Isolation
from storeproof.spec.isolation import ANOMALIES, Guarantees, in_words
from storeproof.spec.known_failure import CaseFinding

MIX: Final = "read-modify-write"
"""Of the transactions: every store can run it, and it tells the order of all versions."""
_LISTED: Final = 4
"""Lost commits of a round that are told."""


@dataclass(kw_only=True)
class IsolationRounds(WorkloadSummary):
    """Sums over rounds."""

    level: Isolation
    guarantees: Guarantees
    outcomes: Counter[RequestOutcome] = field(default_factory=Counter)
    contended: int = 0
    lost: int = 0
    """Commits that were acknowledged, and of which nothing was seen when the store was whole again."""
    across: list[CaseFinding] = field(default_factory=list)
    """What a store may show that is not said to survive the fault: lost commits, anomalies with a transaction that ended after it, and
    records that no client wrote."""
    before: list[CaseFinding] = field(default_factory=list)
    """Anomalies among transactions that had all ended before."""
    story: list[str] = field(default_factory=list)
    """Of the first anomaly, step by step."""

    @classmethod
    def of(cls, target: Target, guarantee: str) -> Self:
        """At the strongest level that the variant has. Raises `StopIteration`: it has none.

        While a node is lost or isolated, and afterwards, some clients are at another node than the rest.
        """
        level = next(level for level in reversed(LEVELS) if level in target.isolation)
        claim = target.isolation[level]
        promise = claim.across_nodes if guarantee in NETWORKED and claim.across_nodes is not None else claim
        return cls(level=level, guarantees=promise.guarantees)

    def judge_round(self, struck: StruckRound) -> int:
        """By the history of all its transactions; returns how many had been committed before the strike."""
        kept, strike = struck.seen.transactions, struck.moments.strike
        if kept is None or (kept.level, kept.mix, kept.nodes) != (self.level, MIX, []):
            raise ValueError(f"it has no transactions of the mix {MIX} at the level {self.level}")
        sent = without_replies(kept.sent, struck.lost_disk)
        lost = lost_commits(sent, struck.seen.load_ended)
        found = [each for each in find_anomalies(sent) if forbidden(self.guarantees, each)]
        late = {each.transactions for each in found if any((sent[number].completed or strike) >= strike for number in each.transactions)}
        where = self.count_round(struck.fault, wrong=bool(lost or found or kept.not_written))
        self.outcomes.update(each.outcome for each in sent)
        self.contended += contended(sent)
        self.lost += len(lost)
        self.across += [CaseFinding(each, frozenset({"lost"})) for each in in_rounds(where, list(map(str, lost[:_LISTED])))]
        self.across += [CaseFinding(each, frozenset({"invented"})) for each in in_rounds(where, kept.not_written[:1])]
        for each in found:
            finding = CaseFinding(f"{where}: {ANOMALIES[each.kind]}", frozenset({each.kind}))
            (self.across if each.transactions in late else self.before).append(finding)
            self.story = self.story or explain(each, sent)
        return sum(each.outcome == "ok" and (each.completed or strike) < strike for each in sent)

    @property
    def ending(self) -> CaseEnding:
        """What was wrong before the fault is wrong without it."""
        if self.before:
            return CaseEnding.WRONG_ANSWER
        if self.across:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return self.right if self.idle or self.contended >= LEAST else CaseEnding.UNCONTENDED

    def parts(self) -> Iterator[str]:
        """What was found, and in what."""
        what = in_words(self.guarantees)
        of = f"{self.outcomes['ok']:,} transactions across {self.rounds} faults, {self.contended:,} of them contended"
        if self.findings:
            seen = [name for kind, name in ANOMALIES.items() if any(kind in each.kinds for each in self.findings)]
            yield f"not {what}: {', '.join(seen)}" * bool(seen)
            yield f"{self.lost:,} acknowledged commits were lost" * bool(self.lost)
            yield f"in {of}; wrong rounds: {self.by_fault(self.wrong_rounds)}"
        elif self.contended >= LEAST:
            yield f"{what} is not refuted by {of}; every acknowledged commit was there"
        else:
            yield f"only {of}; it takes {LEAST} to say something"
        yield f"{self.outcomes['refused']:,} rolled back, {self.outcomes['unknown']:,} unknown"
        yield from self.idle_rounds()
        yield from self.spoiled_rounds()

    def lines(self) -> list[str]:
        """The first findings, and the first anomaly step by step."""
        return [*(str(each) for each in self.findings[:_LISTED]), *self.story, *super().lines()]

    @property
    def findings(self) -> list[CaseFinding]:
        """All."""
        return [*self.before, *self.across]

    @property
    def unexcused(self) -> list[CaseFinding]:
        """Those without the fault."""
        return self.before
