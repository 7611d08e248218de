"""The outcome of one running case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from _pytest.outcomes import Skipped

from storeproof.outcome import Outcome, Stage
from storeproof.result.model import OutcomeRecord
from storeproof.result.recorder import StoreRecord


class Settled(Skipped):
    """Ends a test whose outcome is settled and neither a pass nor a failure."""


class Verdict:
    """What becomes of one case: a pass, if the test ran to its end and neither said nor showed otherwise."""

    def __init__(self, record: StoreRecord, stage: Stage, case: str, revision: int, model: str, operations: Iterable[str]) -> None:
        self._record = record
        self._stage = stage
        self._case = case
        self._revision = revision
        self._model = model
        self._operations = set(operations)
        self._details: list[str] = []
        self.outcome = Outcome.NOT_RUN
        self.settled = False
        self.seconds = 0.0

    @property
    def detail(self) -> str:
        """All that was said about the outcome."""
        return "\n".join(self._details)

    def about(self, model: str, operations: Iterable[str]) -> None:
        """Say which operations on which model the case speaks for, where that is known only while it runs."""
        self._model = model
        self._operations = set(operations)

    def note(self, outcome: Outcome, detail: str) -> None:
        """Settle the outcome without ending the test."""
        self.outcome = outcome
        self.settled = True
        self.add(detail)

    def add(self, detail: str) -> None:
        """Add to the detail; the outcome stays as it is."""
        if detail:
            self._details.append(detail)

    def finished(self) -> None:
        """The test ran to its end."""
        if not self.settled:
            self.outcome = Outcome.PASS

    def settle(self, outcome: Outcome, detail: str) -> NoReturn:
        """End the test with an outcome.

        Raises:
            AssertionError: for a failure, and for an error of ours.
            Settled: for all others.
        """
        self.note(outcome, detail)
        if outcome in (Outcome.FAIL, Outcome.ERROR):
            raise AssertionError(detail)
        raise Settled(detail)

    def close(self) -> None:
        """Hand the outcome to the record."""
        self._record.add(
            OutcomeRecord(
                id=self._case,
                revision=self._revision,
                stage=self._stage,
                outcome=self.outcome,
                detail=self.detail,
                seconds=round(self.seconds, 4),
            ),
            self._model,
            self._operations,
        )
