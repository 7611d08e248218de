"""Checks the histories of contended keys: the outcome of a case and, for the report, the smallest part of a history that is wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from storeproof.blame import CaseEnding, outcome_of
from storeproof.check import BEFORE, Contradiction, contradiction, is_linearizable
from storeproof.experiments.contended_keys import ContendedKey
from storeproof.experiments.rounds_summary import RoundsSummary
from storeproof.history import Operation
from storeproof.outcome import Outcome
from storeproof.result.measured.history import AccessRecord, HistoryRecord

_SEARCH_SECONDS = 5.0
"""Per key; a longer search is inconclusive."""

_ALL_SECONDS = 60.0
"""For all keys of a case."""

_SHRINK_SECONDS = 10.0

_LISTED = 4
"""The number of keys that a message names."""


@dataclass(kw_only=True)
class LinearizabilitySummary(RoundsSummary):
    """The checked histories of one case, which has no rounds if it has no faults."""

    case: str
    durable_reads: bool = True
    """Whether the variant claims that no client reads a write that a fault undoes."""
    keys: int = 0
    operations: int = 0
    """Answered ones."""
    unknown: int = 0
    undecided: list[str] = field(default_factory=list)
    """Keys whose search was given up."""
    wrong: list[str] = field(default_factory=list)
    """Keys whose history no order explains, with the contradiction."""
    undone_reads: list[str] = field(default_factory=list)
    """Keys whose only error is that, before a fault, a client read a write that was not yet acknowledged and that the fault undid."""
    shown: list[HistoryRecord] = field(default_factory=list)
    _left: float = _ALL_SECONDS

    def judge_round(self, fault: str, histories: Mapping[ContendedKey, Sequence[Operation]], struck: int) -> None:
        """As `judge`, and count the round under the name of its fault."""
        before = len(self.findings)
        self.judge(histories, struck)
        self.count_round(fault, wrong=len(self.findings) > before)

    def judge(self, histories: Mapping[ContendedKey, Sequence[Operation]], struck: int | None = None) -> None:
        """Check the history of each key. `struck`: the time of the fault, on the clock of the operations."""
        for key, operations in histories.items():
            self.keys += 1
            self.operations += sum(each.outcome == "ok" for each in operations)
            self.unknown += sum(each.outcome == "unknown" for each in operations)
            right = self._search(operations)
            if right is False and struck is not None:
                # Leave out the reads that ended before the fault: an error that remains is worse.
                lasting = [each for each in operations if not _read_before(each, struck)]
                kept = self._search(lasting)
                if kept:
                    self.undone_reads.append(self._contradiction(key.name, operations, struck))
                    continue
                right, operations = kept, lasting
            if right is None:
                self.undecided.append(f"{key.name}: {len(operations)} operations, not decided in time")
            elif not right:
                self.wrong.append(self._contradiction(key.name, operations, struck))

    @property
    def ending(self) -> CaseEnding:
        """How the case ends, if nothing else ended it."""
        if self.wrong or self.undone_reads:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        if self.undecided:
            return CaseEnding.UNDECIDED
        return CaseEnding.RIGHT if self.operations else CaseEnding.NOTHING_AT_RISK

    def outcome(self, *, claimed: bool) -> Outcome:
        """A read of a write that the fault undid breaks a promise only if the variant claims durable reads."""
        return outcome_of(self.ending, claimed=claimed and (self.durable_reads or not self.undone_reads or bool(self.wrong)))

    def parts(self) -> Iterator[str]:
        """What was checked, and what is wrong."""
        yield f"{self.rounds} faults; {self.judged}"
        if self.strikes:
            yield f"rounds that no order explains: {self.by_fault(self.wrong_rounds)}"
        if self.wrong:
            yield "not linearizable"
        elif self.undone_reads:
            yield "a client read a write that the fault undid before it was acknowledged"
            yield "the store claims durable reads" if self.durable_reads else "the store does not claim durable reads"
        elif self.given_up:
            yield f"{len(self.spoiled)} rounds were spoiled"
        elif self.undecided:
            yield from self.list_some(self.undecided)
        else:
            yield "every key is linearizable" if self.operations else "nothing was acknowledged before the faults"

    def lines(self) -> list[str]:
        """The first of the keys that are wrong."""
        return self.list_some(self.wrong or self.undone_reads)

    @property
    def findings(self) -> list[str]:
        """Key by key."""
        return self.wrong or self.undone_reads

    def _search(self, operations: Sequence[Operation]) -> bool | None:
        seconds = min(_SEARCH_SECONDS, self._left)
        if seconds <= 0:
            return None
        began = time.monotonic()
        try:
            return is_linearizable(operations, seconds)
        finally:
            self._left -= time.monotonic() - began

    def _contradiction(self, name: str, operations: Sequence[Operation], struck: int | None) -> str:
        if len(self.wrong) + len(self.undone_reads) >= _LISTED:
            return name  # messages have no room for it
        part = contradiction(operations, _SHRINK_SECONDS)
        if not self.shown:  # one picture is enough; the messages name the other keys
            self.shown.append(_record(self.case, name, len(operations), part, struck))
        return f"{name}: no order explains {_in_words(part)}"

    @staticmethod
    def list_some(keys: Sequence[str]) -> list[str]:
        """The first of them, for a message."""
        return [*keys[:_LISTED], *([f"and {len(keys) - _LISTED} more keys"] if len(keys) > _LISTED else [])]

    @property
    def judged(self) -> str:
        """The operations that were checked."""
        unknown = f", {self.unknown} of them unknown" if self.unknown else ""
        return f"{self.operations + self.unknown} operations on {self.keys} keys{unknown}"


def _read_before(operation: Operation, struck: int) -> bool:
    """Whether an operation changed nothing, and had ended when the fault struck."""
    reads = operation.action == "get" or (operation.action != "increment" and operation.answer is False)
    return operation.completed is not None and operation.completed < struck and reads


def _in_words(part: Contradiction) -> str:
    who = {BEFORE: "before that"}
    return "; ".join(
        f"{who.get(each.client, f'client {each.client}')}: {each.with_answer()}" + (" (!)" if each is part.culprit else "")
        for each in part.operations
    )


def _record(case: str, key: str, operations: int, part: Contradiction, struck: int | None) -> HistoryRecord:
    first = min(each.invoked for each in part.operations)
    return HistoryRecord(
        case=case,
        key=key,
        operations=operations,
        fault_us=None if struck is None or struck < first else (struck - first) / 1000,
        accesses=[
            AccessRecord(
                client=each.client,
                action=each.action,
                value=each.write_id,
                expected=each.expected,
                amount=each.amount,
                answer=each.answer,
                answer_known=each.answer_counts,
                outcome=each.outcome,
                invoked_us=(each.invoked - first) / 1000,
                completed_us=None if each.completed is None else (each.completed - first) / 1000,
                contradicts=each is part.culprit,
            )
            for each in part.operations
        ],
    )
