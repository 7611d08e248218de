"""Checks the histories of contended keys: the outcome of a case and, for the report, the smallest part of a history that is wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from storeproof.blame import CaseEnding, outcome_of
from storeproof.check import BEFORE, MOST_OPERATIONS, Contradiction, contradiction, is_linearizable
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.rounds_summary import WorkloadSummary
from storeproof.history import Operation, as_of, by_place
from storeproof.outcome import Outcome
from storeproof.result.measured.case_records import AccessRecord, HistoryRecord
from storeproof.spec import Target
from storeproof.spec.known_failure import CaseFinding

_SEARCH_SECONDS = 5.0
"""Per key; a longer search is inconclusive."""

_ALL_SECONDS = 60.0
"""For all keys of a case."""

_SHRINK_SECONDS = 10.0

_LISTED = 4
"""The number of keys that a message names."""


@dataclass(kw_only=True)
class LinearizabilitySummary(WorkloadSummary):
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
    left: float = _ALL_SECONDS
    """Seconds for the searches that are to come."""
    explains: bool = True
    """Whether it looks for the smallest part of a history that is wrong."""

    @classmethod
    def of(cls, target: Target, guarantee: str) -> Self:
        """Each server answers for itself."""
        return cls(case=f"durability.linearizable/{guarantee}", durable_reads=target.durable_reads)

    def excused(self, target: Target) -> bool:
        """A variant whose reads may be stale promises no order; where there is one all the same, it holds what it promises."""
        return target.stale_reads and bool(self.wrong or self.undone_reads)

    def judge_round(self, struck: StruckRound) -> int:
        """Key by key; returns how many were written before the strike."""
        before, operations, ended = len(self.findings), struck.operations, struck.moments.ended
        if (most := max(Counter(each.place for each in operations).values(), default=0)) > MOST_OPERATIONS:
            raise ValueError(f"a key has {most:,} operations, and clients send {MOST_OPERATIONS:,} at most to one")
        self.check(operations, ended if struck.seen.cluster is None else struck.moments.struck)
        self.count_round(struck.fault, wrong=len(self.findings) > before)
        done = as_of(operations, struck.moments.strike)
        return len({each.place for each in done if each.outcome == "ok" and each.action != "get"})

    def check(self, operations: Iterable[Operation], struck: int | None = None) -> None:
        """Check the history of each key. `struck`: the time of the fault, on the clock of the operations."""
        for (type_, key), history in by_place(operations).items():
            name = f"{type_} {key!r}"
            self.keys += 1
            self.operations += sum(each.outcome == "ok" for each in history)
            self.unknown += sum(each.outcome == "unknown" for each in history)
            right = self._search(history)
            if right is False and struck is not None:
                # Leave out the reads that ended before the fault: an error that remains is worse.
                lasting = [each for each in history if not _read_before(each, struck)]
                kept = self._search(lasting)
                if kept:
                    self.undone_reads.append(self._contradiction(name, history, struck))
                    continue
                right, history = kept, lasting
            if right is None:
                self.undecided.append(f"{name}: {len(history)} operations, not decided in time")
            elif not right:
                self.wrong.append(self._contradiction(name, history, struck))

    @property
    def ending(self) -> CaseEnding:
        """How the case ends, if nothing else ended it."""
        if self.wrong or self.undone_reads:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        if self.undecided:
            return CaseEnding.UNDECIDED
        return self.right

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
            yield "every key is linearizable"
            yield from self.idle_rounds()

    def lines(self) -> list[str]:
        """The first of the keys that are wrong."""
        return self.list_some(self.wrong or self.undone_reads)

    @property
    def findings(self) -> list[CaseFinding]:
        """Key by key."""
        return [CaseFinding(each, frozenset({"not_linearizable"})) for each in self.wrong or self.undone_reads]

    def _search(self, operations: Sequence[Operation]) -> bool | None:
        seconds = min(_SEARCH_SECONDS, self.left)
        if seconds <= 0:
            return None
        began = time.monotonic()
        try:
            return is_linearizable(operations, seconds)
        finally:
            self.left -= time.monotonic() - began

    def _contradiction(self, name: str, operations: Sequence[Operation], struck: int | None) -> str:
        if not self.explains or len(self.wrong) + len(self.undone_reads) >= _LISTED:
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
