"""What the transactions of a mix showed of a level: its outcome, its sentence, and the smallest anomaly of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import CaseEnding
from storeproof.check import contended, find_anomalies
from storeproof.evidence import TransactionsEvidence
from storeproof.experiments.summary import Summary
from storeproof.history import RequestOutcome
from storeproof.result.measured.isolation import AnomalySeen, IsolationCounts
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import ANOMALIES, ORDERS, Guarantees, in_words
from storeproof.spec.known_failure import CaseFinding

LEAST: Final = 200
"""Contended transactions, below which nothing is said: the differences between the levels of one engine show after 2 to 110 commits, and
defects in one of a hundred transactions may take 2,000."""


@dataclass(kw_only=True)
class IsolationSummary(Summary):
    """Of one attempt."""

    level: Isolation
    mix: str
    guarantees: Guarantees
    refusal: str = ""
    """The last one of a client."""
    not_written: Sequence[str] = ()
    """What was read, and was written so by no client."""
    nodes: Sequence[str] = ()
    """Of a cluster, that of each client."""
    outcomes: Counter[RequestOutcome] = field(default_factory=Counter)
    contended: int = 0
    anomalies: list[AnomalySeen] = field(default_factory=list)

    def judge(self, kept: TransactionsEvidence) -> None:
        """Count the transactions, and find the anomalies. Raises `ValueError`: one reads what none has written."""
        transactions, self.refusal, self.not_written, self.nodes = kept.sent, kept.refusal, kept.not_written, kept.nodes
        self.outcomes = Counter(each.outcome for each in transactions)
        self.contended = contended(transactions)
        self.anomalies = [AnomalySeen.of(each, transactions, self.guarantees, self.nodes) for each in find_anomalies(transactions)]

    @property
    def ending(self) -> CaseEnding:
        """A level that is claimed is held to what it forbids."""
        if self.not_written:
            return CaseEnding.MADE_UP
        if self._forbidden:
            return CaseEnding.WRONG_ANSWER
        if not self.outcomes["ok"] and self.refusal:
            return CaseEnding.REFUSED
        return CaseEnding.RIGHT if self.contended >= LEAST else CaseEnding.UNCONTENDED

    def parts(self) -> Iterator[str]:
        """What was found, and in what."""
        what = in_words(self.guarantees)
        at = f" at {', '.join(dict.fromkeys(self.nodes))}" * bool(self.nodes)
        of = f"{self.outcomes['ok']:,} transactions{at}, {self.contended:,} of them contended"
        if self.not_written:
            yield f"data that no client wrote was read: {self.not_written[0]}"
        if self._forbidden:
            yield f"not {what}: {'; '.join(map(_named, self._forbidden))}, in {of}"
        elif self.contended >= LEAST:
            yield f"{what} is not refuted by {of}"
        else:
            yield f"only {of}; it takes {LEAST} to say something"
        yield f"{self.outcomes['refused']:,} rolled back" + f", {self.outcomes['unknown']:,} unknown" * bool(self.outcomes["unknown"])
        if allowed := [each for each in self.anomalies if not each.forbidden]:
            yield f"seen, and allowed: {'; '.join(map(_named, allowed))}"
        if self.refusal and not self.outcomes["ok"]:
            yield f"the last refusal: {self.refusal}"

    def lines(self) -> list[str]:
        """The smallest anomaly of those that are forbidden, step by step."""
        return list(min(self._forbidden, key=lambda each: len(each.story)).story) if self._forbidden else []

    @property
    def findings(self) -> list[CaseFinding]:
        """One for each kind of anomaly that is forbidden, and one for data that no client wrote."""
        made_up = [CaseFinding(each, frozenset({"invented"})) for each in self.not_written[:1]]
        return made_up + [CaseFinding(_named(each), frozenset({each.kind})) for each in self._forbidden]

    def counts(self) -> IsolationCounts:
        """For the result file."""
        return IsolationCounts(
            level=self.level,
            mix=self.mix,
            guarantees=self.guarantees,
            committed=self.outcomes["ok"],
            contended=self.contended,
            rolled_back=self.outcomes["refused"],
            unknown=self.outcomes["unknown"],
            anomalies=self.anomalies,
        )

    @property
    def _forbidden(self) -> list[AnomalySeen]:
        return [each for each in self.anomalies if each.forbidden]


def _named(seen: AnomalySeen) -> str:
    return f"{ANOMALIES[seen.kind]}{ORDERS[seen.order]}, first after {seen.after:,} commits"
