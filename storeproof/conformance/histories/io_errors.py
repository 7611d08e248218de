"""Judges the errors of disks again, and compares what follows with the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from storeproof.conformance.histories.judged_trials import JudgedTrials
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.evidence import MOST_CALLS, EvidenceDamaged, StoreEvidence
from storeproof.experiments.io_errors.error_judge import replay_errors
from storeproof.experiments.io_errors.error_summary import ErrorSummary
from storeproof.outcome import SHOWN
from storeproof.printable import in_one_line
from storeproof.result.measured.io_errors import IoErrorCounts
from storeproof.result.model import OutcomeRecord
from storeproof.spec.cases import io_errors_case
from storeproof.spec.guarantee import IO_ERRORS, IoError

_CASES: Final = {io_errors_case(name): name for name in IO_ERRORS}


@dataclass
class _Judged:
    """The errors of one kind, on all stores."""

    summary: ErrorSummary
    attempts: int = 0
    done: set[int] = field(default_factory=set)
    left: int = 0
    """Calls of the last store that did not fail."""


@dataclass
class JudgedErrors(JudgedTrials):
    """The errors in one bundle."""

    _cases: dict[IoError, _Judged] = field(default_factory=dict)

    def take(self, part: StoreEvidence) -> bool:
        """Judge a part of the evidence; False: it is of another case.

        Raises:
            EvidenceDamaged: it is none of a run.
            ClaimRefused: it is of another store or seed.
        """
        name = _CASES.get(part.case)
        if name is None:
            if part.errors is not None:
                raise EvidenceDamaged(f"there are errors of a disk of {part.case[:60]!r}")
            return False
        record = self.record_of(part.case)
        judged = self._cases.setdefault(name, _Judged(ErrorSummary(error=name)))
        self.check_seed(part, "errors", f"io_errors {name} {judged.attempts}")
        judged.attempts += 1
        if part.rounds or part.crash is not None or (part.errors is not None and part.errors.error != name):
            raise EvidenceDamaged(f"the errors of {part.case} are not those of one kind on one store")
        if part.errors is not None:
            judged.summary.requests = part.errors.requests
            spoiled = record is not None and judged.attempts <= record.spoiled
            judged.left = replay_errors(part, judged.summary, judged.done, spoiled=spoiled)
        return True

    def check(self) -> None:
        """Compare them with the result. Raises `ClaimRefused`: they show something else, or there are none of a case that tried some."""
        for name in IO_ERRORS:
            record, judged = self.record_of(io_errors_case(name)), self._cases.get(name, _Judged(ErrorSummary(error=name)))
            if record is None or record.io_errors is None:
                if judged.attempts and (record is None or record.outcome in SHOWN):
                    raise ClaimRefused(Reason.ERRORS, f"there are errors of {io_errors_case(name)}, and the result counts none")
                continue
            with self.disputable(record.id):
                self._compare(record, record.io_errors, judged)
            self.said.append(f"{record.id}: {judged.summary.tried.total()} errors judged again")

    def _compare(self, record: OutcomeRecord, counts: IoErrorCounts, judged: _Judged) -> None:
        summary = judged.summary
        if record.spoiled not in (judged.attempts, judged.attempts - 1) or (record.outcome in SHOWN and not judged.attempts):
            text = f"{record.id} has {judged.attempts} attempts in the evidence, and {record.spoiled} that were spoiled in the result"
            raise ClaimRefused(Reason.ATTEMPTS, text)
        summary.given_up = record.spoiled == judged.attempts
        scale = self.known.scale(self.run.scale).durability.io_errors
        summary.requests = summary.requests or scale.requests
        for what, says, shows in _differing(counts, summary.counts()):
            raise ClaimRefused(Reason.ERRORS, f"{record.id}: {what} is {says} in the result, and {shows} by its errors")
        if counts.requests != scale.requests:
            raise ClaimRefused(Reason.ERRORS, f"{record.id} sent {counts.requests} requests, where the scale wants {scale.requests}")
        hurried = record.seconds < scale.seconds and len(judged.done) < MOST_CALLS
        if record.outcome in SHOWN and judged.left and (hurried or not judged.done):
            raise ClaimRefused(
                Reason.ERRORS, f"{record.id} left out calls after {record.seconds:g} s, where the scale has {scale.seconds:g} s"
            )
        self.check_outcome(record, summary, Reason.ERRORS, claimed=self.target.configuration.promises("power_loss"))


def _differing(says: IoErrorCounts, shows: IoErrorCounts) -> list[tuple[str, str, str]]:
    """In what the counts differ; of an error that the store did not bear the words are its log's, which is masked."""
    said, shown = (
        counts.model_dump(exclude={"failed"})
        | {"the list of errors that fail": [(each.call, each.lasting, each.reaction) for each in counts.failed]}
        for counts in (says, shows)
    )
    return [(what, in_one_line(str(said[what]), 120), in_one_line(str(shown[what]), 120)) for what in said if said[what] != shown[what]]
