"""The summary of an experiment: one outcome, one sentence, and the findings that make it a failure.

The outcome of each comes from the table in `storeproof.blame`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from storeproof.blame import CaseEnding, outcome_of
from storeproof.check import Anomaly
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult
from storeproof.spec.known_failure import CaseFinding


@dataclass(kw_only=True)
class Summary(ABC):
    """Sums over rounds."""

    spoiled: list[str] = field(default_factory=list)
    """Why each spoiled round says nothing: the machine failed, or no answer came. Each was repeated on a new store."""
    given_up: bool = False
    """Too many rounds were spoiled."""
    log: str = ""
    """The last lines of the log of a store that failed."""

    @property
    @abstractmethod
    def ending(self) -> CaseEnding:
        """How the case ends."""

    @abstractmethod
    def parts(self) -> Iterable[str]:
        """What was done, and the results; empty parts are left out."""

    @property
    @abstractmethod
    def findings(self) -> Sequence[str | CaseFinding]:
        """The findings that make it a failure if the store claims what was tested; `known_failures` in a store's file matches them."""

    @property
    def unexcused(self) -> Sequence[str | CaseFinding]:
        """The findings that are a failure even without a claim."""
        return self.findings

    def outcome(self, *, claimed: bool) -> Outcome:
        """`claimed`: whether the variant claims what was tested."""
        return outcome_of(self.ending, claimed=claimed)

    def detail(self) -> str:
        """The sentence, and further lines."""
        return "\n".join([self.sentence(), *self.lines()])

    def sentence(self) -> str:
        return "; ".join(filter(None, self.parts()))

    def lines(self) -> list[str]:
        return ["--- last lines of its log ---", self.log] if self.log else []

    def findings_of(self, *, claimed: bool) -> Sequence[str | CaseFinding]:
        """The findings for a store that claims what was tested, or for one that does not."""
        return self.findings if claimed else self.unexcused

    def spoiled_rounds(self) -> Iterator[str]:
        """The part about them; nothing without any."""
        if self.spoiled:
            done = "given up" if self.given_up else "repeated"
            yield f"{len(self.spoiled)} rounds were spoiled and {done}: {' | '.join(dict.fromkeys(self.spoiled))}"

    def report(self, case_result: CaseResult, *, claimed: bool) -> None:
        """Settle the case. Raises `EndCase` unless it is a pass."""
        case_result.spoiled += self.spoiled
        outcome, detail = self.outcome(claimed=claimed), self.detail()
        if outcome is Outcome.PASS:
            case_result.add(detail)
        else:
            case_result.settle(outcome, detail, self.findings_of(claimed=claimed))


def count_anomalies(anomalies: Mapping[Anomaly, int]) -> str:
    """`3 lost, 1 torn`."""
    return ", ".join(f"{number} {anomaly}" for anomaly, number in sorted(anomalies.items()) if anomaly is not Anomaly.OK)
