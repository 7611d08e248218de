"""The outcome of a running case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from storeproof.blame import REPEATED, CaseEnding, Judgement, Party, judge_error
from storeproof.contract.failures import Unsupported, WrongReply
from storeproof.errors import NotAvailable
from storeproof.outcome import Outcome, Stage, is_failure
from storeproof.result.measured.case_records import Lacked, StaleReadCounts
from storeproof.result.measured.crash_states import CrashStateCounts
from storeproof.result.measured.damage import DamageCounts
from storeproof.result.measured.io_errors import IoErrorCounts
from storeproof.result.measured.isolation import IsolationCounts
from storeproof.result.model import OutcomeRecord
from storeproof.result.recorder import StoreRecord
from storeproof.spec.known_failure import CaseFinding, KnownFailure
from storeproof.spec.standing import Standing

_SHOWN = 3
_LONGEST = 400
"""The number of findings shown that no known failure covers, and the length of each in characters."""

ATTEMPTS: Final = 3
"""How often a case is tried that the machine spoils or that gets no answer."""


class EndCase(Exception):
    """Ends a case with an outcome, from anywhere in it. Its message is the detail; `lacked` as in the record of the case."""

    def __init__(self, outcome: Outcome, detail: str, lacked: Lacked | None = None) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.lacked = lacked


class WrongAnswer(AssertionError):
    """The store's answer to an operation is not the expected one; `told`: what was done, one line each."""

    def __init__(self, told: Iterable[str], operation: str, found: object, expected: str) -> None:
        super().__init__("\n".join([*told, f"expected: {expected}"]))
        self.finding = CaseFinding.wrong_answer(str(self), operation, repr(found), expected)


_KINDS: Final = {
    **dict.fromkeys((CaseEnding.REFUSED, CaseEnding.UNSUPPORTED), "refused"),
    **dict.fromkeys((CaseEnding.SERVER_ENDED, CaseEnding.BROKEN_PROMISE), "unstartable"),
}


def finding_of(error: BaseException, judged: Judgement) -> CaseFinding:
    """What is held against what is known, where an exception ends a case; only an assertion is in our words, and not in the store's."""
    if isinstance(error, WrongAnswer):
        return error.finding
    kind = "unreadable" if isinstance(error, WrongReply) else _KINDS.get(judged.ending, "wrong_answer")
    return CaseFinding(judged.detail, frozenset({kind}), said="" if isinstance(error, AssertionError) else str(error))


class CaseResult:
    """The result of one case. It is a pass if the test runs to its end and sets no other outcome."""

    def __init__(
        self,
        record: StoreRecord,
        stage: Stage,
        case: str,
        revision: int,
        model: str,
        operations: Iterable[str],
        known: KnownFailure | None = None,
        *,
        claimed: bool = True,
        standing: Standing | None = None,
    ) -> None:
        """`claimed`: whether the variant claims what the case tests. `standing`: why the case decides nothing; None where it decides."""
        self._record = record
        self._stage = stage
        self._case = case
        self._revision = revision
        self._model = model
        self._operations = set(operations)
        self._known = known
        self._details: list[str] = []
        self.claimed = claimed
        self.standing = standing
        self.outcome = Outcome.NOT_RUN
        self.settled = False
        self.closed = False
        """Whether the outcome is in the record."""
        self.seconds = 0.0
        self.elsewhere = 0.0
        """Seconds of this case that passed in others, as rounds of several stores are interleaved; those of others in it are negative."""
        self.party: Party | None = None
        """Who is to blame; None if the store's answers decided the outcome."""
        self.spoiled: list[str] = []
        """What ended each spoiled attempt or round, which was repeated."""
        self._ending: CaseEnding | None = None
        self.stale_reads: StaleReadCounts | None = None
        """The stale reads of a case that watches for them."""
        self.refusal: str | None = None
        """Why an operation is not offered, without the operation."""
        self.damage: DamageCounts | None = None
        """What became of the files, of a case that damages them."""
        self.crash_states: CrashStateCounts | None = None
        """What became of the states of a disk, of a case that records one."""
        self.io_errors: IoErrorCounts | None = None
        """What errors of a disk led to, of a case whose disk fails."""
        self.isolation: IsolationCounts | None = None
        """What transactions showed of a level, of a case that has some."""
        self.lacked: Lacked | None = None
        """Of a case that is not run."""
        self.again = ""
        """The command that repeats it."""

    @property
    def detail(self) -> str:
        """All details so far, one per line."""
        return "\n".join(self._details)

    @property
    def is_failure(self) -> bool:
        """Whether its outcome so far fails the run."""
        return is_failure(self.outcome, decides=self.standing is None)

    def about(self, model: str, operations: Iterable[str]) -> None:
        """Set the model and the operations that the case proves, if they are known only while it runs."""
        self._model = model
        self._operations = set(operations)

    def known(self, outcome: Outcome, findings: Sequence[str | CaseFinding]) -> Outcome:
        """The outcome, or `known_fail` for a failure whose findings are all known."""
        if outcome is not Outcome.FAIL or self._known is None:
            return outcome
        return Outcome.FAIL if self._known.worse(findings) else Outcome.KNOWN_FAIL

    @property
    def attempt(self) -> int:
        """The number of the current attempt, from 1."""
        return len(self.spoiled) + 1

    def note_error(self, error: BaseException, told: Iterable[str] = ()) -> Judgement:
        """Set the outcome from an exception, without ending the test; `told`: earlier steps, one line each.

        Of a refusal the reason comes first, since tables show the first line: many cases are refused for one reason, after unlike steps.
        """
        judged = judge_error(error, claimed=self.claimed)
        lines = [*told, judged.detail]
        if judged.outcome is Outcome.UNSUPPORTED:
            lines.insert(0, lines.pop())
        detail = "\n".join(lines)
        self.note(judged.outcome, detail, [replace(finding_of(error, judged), words=detail)])
        self.party, self._ending = judged.party, judged.ending
        if isinstance(error, Unsupported) and error.reason != str(error):
            self.refusal = f"claimed, but {error.reason}" if self.claimed else error.reason
        if isinstance(error, NotAvailable) and error.lack is not None:
            self.lacked = Lacked(what=error.lack)
        return judged

    def begin_again(self) -> bool:
        """Whether the attempt was spoiled and the case may start again; keeps what ended it."""
        if self._ending not in REPEATED or self.attempt >= ATTEMPTS:
            return False
        self.spoiled.append(self.detail.partition("\n")[0])
        self._details.clear()
        self.outcome, self.settled, self.party, self._ending, self.stale_reads = Outcome.NOT_RUN, False, None, None, None
        self.refusal = self.damage = self.crash_states = self.io_errors = self.isolation = self.lacked = None
        return True

    def note(self, outcome: Outcome, detail: str, findings: Sequence[str | CaseFinding] = ()) -> None:
        """Set the outcome without ending the test. `findings` of a failure; by default the detail is the only one."""
        findings = findings or (detail,)
        self.outcome = self.known(outcome, findings)
        self.settled = True
        if outcome is Outcome.FAIL and self._known is not None:
            issue = f"known until {self._known.until}: {self._known.issue}"
            if worse := self._known.worse(findings):
                more = f" (and {len(worse) - _SHOWN} more)" if len(worse) > _SHOWN else ""
                self.add(f"worse than the known failure: {' | '.join(map(_short, worse[:_SHOWN]))}{more}")
                issue = f"{issue.rstrip('.')}; known_failures covers only findings like {self._known.covered}"
            self.add(issue)
        self.add(detail)

    def add(self, detail: str) -> None:
        """Add a detail, without changing the outcome."""
        if detail:
            self._details.append(detail)

    def finished(self) -> None:
        if not self.settled:
            self.outcome = Outcome.PASS
            if self._known is not None:
                self.outcome = Outcome.PASS if self._known.sometimes else Outcome.UNDECLARED
                self.add("listed in known_failures of the store's file, but did not fail" + " this time" * self._known.sometimes)

    def end(self, error: Exception, told: Iterable[str] = ()) -> NoReturn:
        """End the case with the outcome of an exception, as `note_error` does. Raises `EndCase`."""
        self.note_error(error, told)
        raise EndCase(self.outcome, self.detail, self.lacked) from error

    def settle(self, outcome: Outcome, detail: str, findings: Sequence[str | CaseFinding] = ()) -> NoReturn:
        """End the case with an outcome; `findings` as for `note`. Raises `EndCase`."""
        self.note(outcome, detail, findings)
        raise EndCase(self.outcome, detail)

    def close(self) -> None:
        """Add the outcome to the record."""
        self.closed = True
        if self.spoiled:
            self.add(f"{len(self.spoiled)} spoiled and repeated: " + " | ".join(dict.fromkeys(self.spoiled)))
        self._record.add(
            OutcomeRecord(
                id=self._case,
                revision=self._revision,
                stage=self._stage,
                outcome=self.outcome,
                detail=self.detail,
                seconds=round(self.seconds, 4),
                named=self.party,
                spoiled=len(self.spoiled),
                standing=self.standing,
                stale_reads=self.stale_reads,
                refusal=self.refusal,
                damage=self.damage,
                crash_states=self.crash_states,
                io_errors=self.io_errors,
                isolation=self.isolation,
                lacked=self.lacked if self.outcome is Outcome.NOT_RUN else None,
                again=self.again,
            ),
            self._model,
            self._operations,
        )


def _short(finding: str) -> str:
    """Keep the beginning, which says what the finding is, and the end, which has the last lines of a log."""
    return finding if len(finding) <= _LONGEST else f"{finding[: _LONGEST // 2]} ... {finding[-_LONGEST // 2 :]}"
