"""What the states of a crash, the errors of a disk and transactions share when they are judged again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from storeproof.conformance.histories.judged_rounds import no_better, outcome_by_histories
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.evidence import StoreEvidence
from storeproof.experiments.summary import Summary
from storeproof.outcome import Outcome
from storeproof.printable import in_one_line
from storeproof.result.model import OutcomeRecord, RunInfo, StoreResult
from storeproof.spec import Target


@dataclass
class JudgedTrials(ABC):
    """The trials of one kind in a bundle."""

    run: RunInfo
    store: StoreResult
    target: Target
    known: KnownJudges
    said: list[str] = field(default_factory=list)
    """What was computed again of each case, and what was not."""
    disputed: list[str] = field(default_factory=list)
    """In what the trials of a disputed case show something else here than in the result."""

    @abstractmethod
    def take(self, part: StoreEvidence) -> bool:
        """Judge a part of the evidence; False: it is of another kind.

        Raises:
            EvidenceDamaged: it is none of a run.
            ClaimRefused: it shows something else than the result says.
        """

    @abstractmethod
    def check(self) -> None:
        """Compare all with the result. Raises `ClaimRefused`: they show something else, or there are none of a case that has some."""

    def record_of(self, case: str) -> OutcomeRecord | None:
        """The outcome of a case in the result."""
        return next((each for each in self.store.outcomes if each.id == case), None)

    def check_seed(self, part: StoreEvidence, what: str, seed: str) -> None:
        """Raises `ClaimRefused`: a part of the evidence is of another store, or of another seed.

        Args:
            what: there is in it.
            seed: of this attempt, after the run's and the store's name.
        """
        wanted = f"{self.run.seed} {self.target.id} {seed}"
        if (part.target, part.seed) != (self.target.id, wanted):
            found = in_one_line(f"{part.target} with the seed {part.seed!r}", 100)
            raise ClaimRefused(Reason.SEED, f"the {what} of {part.case} are of {found}, the claim's of {self.target.id} with '{wanted}'")

    @contextmanager
    def disputable(self, case: str) -> Iterator[None]:
        """Note what differs in a disputed case. Raises `ClaimRefused`: something differs in another."""
        try:
            yield
        except ClaimRefused as refused:
            if case not in self.known.disputed:
                raise
            self.disputed.append(refused.text)

    def check_outcome(self, record: OutcomeRecord, summary: Summary, reason: Reason, *, claimed: bool) -> None:
        """Raises `ClaimRefused`: the outcome in the result is better than the trials show."""
        outcome = outcome_by_histories(summary, record.id, self.run, self.target, claimed=claimed)
        if record.outcome is not Outcome.ERROR and not no_better(record.outcome, outcome):
            raise ClaimRefused(reason, f"{record.id} is {record.outcome} in the result, and {outcome} by its {reason}")
