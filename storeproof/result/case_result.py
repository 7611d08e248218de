"""The outcome of one running case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

from storeproof.blame import REPEATED, Ending, Judgement, Party, judge
from storeproof.outcome import Outcome, Stage
from storeproof.result.model import OutcomeRecord
from storeproof.result.recorder import StoreRecord
from storeproof.spec.known_failure import KnownFailure

_SHOWN = 3
_LONGEST = 400
"""Findings that are worse than known, and characters of each."""

ATTEMPTS: Final = 3
"""How often a case is begun, at most, that the machine spoils or that gets no answer."""


class EndCase(Exception):
    """Ends a case with an outcome, from wherever in it that becomes known. Says `detail`."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome


class CaseResult:
    """What becomes of one case: a pass, if the test ran to its end and neither said nor showed otherwise."""

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
    ) -> None:
        """`claimed`: whether the variant claims what the case tries."""
        self._record = record
        self._stage = stage
        self._case = case
        self._revision = revision
        self._model = model
        self._operations = set(operations)
        self._known = known
        self._details: list[str] = []
        self.claimed = claimed
        self.outcome = Outcome.NOT_RUN
        self.settled = False
        self.seconds = 0.0
        self.party: Party | None = None
        """Who is named; None for a case that was settled by what the store answered."""
        self.spoiled: list[str] = []
        """What ended each attempt, or each round, that says nothing about the store and was repeated."""
        self._ending: Ending | None = None

    @property
    def detail(self) -> str:
        """All that was said about the outcome."""
        return "\n".join(self._details)

    def about(self, model: str, operations: Iterable[str]) -> None:
        """Say which operations on which model the case speaks for, where that is known only while it runs."""
        self._model = model
        self._operations = set(operations)

    def known(self, outcome: Outcome, findings: Sequence[str]) -> Outcome:
        """The outcome, or `known_fail` for a failure of which the store's file names every finding."""
        if outcome is not Outcome.FAIL or self._known is None:
            return outcome
        return Outcome.FAIL if self._known.worse(findings) else Outcome.KNOWN_FAIL

    @property
    def attempt(self) -> int:
        """Which attempt at the case is under way, from 1."""
        return len(self.spoiled) + 1

    def note_error(self, error: BaseException, told: Iterable[str] = ()) -> Judgement:
        """Settle the outcome by what ended the test, without ending it; `told`: what was done before it, a line each."""
        judged = judge(error, claimed=self.claimed)
        self.note(judged.outcome, "\n".join([*told, judged.detail]))
        self.party, self._ending = judged.party, judged.ending
        return judged

    def begin_again(self) -> bool:
        """Whether the case says nothing about the store so far and may be begun once more; what ended it is kept."""
        if self._ending not in REPEATED or self.attempt >= ATTEMPTS:
            return False
        self.spoiled.append(self.detail.partition("\n")[0])
        self._details.clear()
        self.outcome, self.settled, self.party, self._ending = Outcome.NOT_RUN, False, None, None
        return True

    def note(self, outcome: Outcome, detail: str, findings: Sequence[str] = ()) -> None:
        """Settle the outcome without ending the test. `findings`: of a failure, one by one; without them the detail is the only one."""
        findings = findings or (detail,)
        self.outcome = self.known(outcome, findings)
        self.settled = True
        if outcome is Outcome.FAIL and self._known is not None:
            issue = f"known until {self._known.until}: {self._known.issue}"
            if worse := self._known.worse(findings):
                more = f" (and {len(worse) - _SHOWN} more)" if len(worse) > _SHOWN else ""
                self.add(f"worse than known: {' | '.join(map(_short, worse[:_SHOWN]))}{more}")
                issue = f"{issue.rstrip('.')}; known are only findings like {self._known.finding}"
            self.add(issue)
        self.add(detail)

    def add(self, detail: str) -> None:
        """Add to the detail; the outcome stays as it is."""
        if detail:
            self._details.append(detail)

    def finished(self) -> None:
        """The test ran to its end."""
        if not self.settled:
            self.outcome = Outcome.PASS
            if self._known is not None:
                self.outcome = Outcome.PASS if self._known.sometimes else Outcome.UNDECLARED
                self.add("the store's file has it under known_failures, and it did not fail" + " this time" * self._known.sometimes)

    def end(self, error: Exception, told: Iterable[str] = ()) -> NoReturn:
        """End the case with the outcome of what went wrong in it: see `note_error`. Raises `EndCase`."""
        self.note_error(error, told)
        raise EndCase(self.outcome, self.detail) from error

    def settle(self, outcome: Outcome, detail: str, findings: Sequence[str] = ()) -> NoReturn:
        """End the case with an outcome; `findings` as for `note`. Raises `EndCase`."""
        self.note(outcome, detail, findings)
        raise EndCase(self.outcome, detail)

    def close(self) -> None:
        """Hand the outcome to the record."""
        if self.spoiled:
            self.add(f"spoiled and repeated, {len(self.spoiled)} of them: " + " | ".join(dict.fromkeys(self.spoiled)))
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
            ),
            self._model,
            self._operations,
        )


def _short(finding: str) -> str:
    """Its beginning says what it is, and its end what the log said last."""
    return finding if len(finding) <= _LONGEST else f"{finding[: _LONGEST // 2]} ... {finding[-_LONGEST // 2 :]}"
