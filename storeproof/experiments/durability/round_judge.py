"""Judges the rounds on one store: in a run as they happen, and again from their evidence. There is no other judge of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from storeproof.check import Anomaly, Audits, unstartable
from storeproof.evidence import RoundEvidence
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.fault_experiment import without_replies
from storeproof.history import Operation, Place, as_of


class RoundJudge:
    """Adds what happened to the sums. Every method but the first is called once for each round that came so far."""

    def __init__(self, summary: DurabilitySummary, *, cuts_off: bool) -> None:
        """`cuts_off`: whether the fault takes the disk away from a store that still runs."""
        self.summary = summary
        self._cuts_off = cuts_off
        self._cut_off: list[tuple[int, int]] = []
        """Intervals in which the store had lost its disk: operations that it answered within them are unknown."""
        self.audits = Audits()
        self._at_risk = 0
        """Operations that were acknowledged before the fault of this round."""
        self._records = 0
        """Different records that were written by these."""
        self._harmed = False
        """Whether one of those that were read back in this round is not as it was acknowledged."""

    def history(self, operations: Iterable[Operation], moment: int) -> list[Operation]:
        """The operations as they count at a moment, in nanoseconds. `operations`: of some or all keys, in order of invocation."""
        return without_replies(as_of(operations, moment), self._cut_off)

    def due(self, history: Sequence[Operation], *, everything: bool) -> dict[Place, list[Operation]]:
        """The keys that the audit of this round must read, with their operations."""
        return self.audits.due(history, everything=everything)

    def begin(self, round_: RoundEvidence) -> None:
        """A round begins."""
        self.summary.count(round_.shape)

    def came_back(self, round_: RoundEvidence, operations: Callable[[], Sequence[Operation]]) -> None:
        """Its fault struck, its clients have ended, and the store has recovered; or any of these did not happen.

        If it does not start, nothing that it ever acknowledged can be read. `operations`: all on this store so far.
        """
        if round_.load_ended and self._cuts_off:
            self._cut_off.append((round_.struck, round_.load_ended))
        self.summary.second_faults += round_.second_fault
        if round_.recovered is not None:
            self.summary.recoveries.append(round_.recovered)
        if (moment := round_.unstartable) is not None:
            ends = [each.completed for each in as_of(operations(), moment) if each.outcome == "ok" and each.completed is not None]
            self.summary.losses.append(unstartable(len(ends), min(ends, default=moment), moment))

    def audited(self, history: Sequence[Operation], round_: RoundEvidence) -> None:
        """The data was read back. `history`: as it counts at the moment of the audit. Raises `ValueError` as `Audits.judge` does."""
        assert round_.audit is not None
        findings, lost = self.audits.judge(history, round_.audit.seen, round_.struck)
        self.summary.gone.update(round_.audit.gone)
        self.summary.add(findings, lost)
        self._harmed = any(each.anomaly is not Anomaly.OK for each in findings)
        self.audits.ended(round_.audit.ended)
        began, ended = round_.began, round_.load_ended
        answered = [each for each in history if each.outcome == "ok" and each.invoked >= began]
        at_risk = [each for each in answered if each.completed is not None and each.completed <= ended]
        self._at_risk = len(at_risk)
        self._records = len({each.place for each in at_risk if each.action != "delete"})

    def end(self, round_: RoundEvidence) -> None:
        """The round is over: the store is unusable, or the round was spoiled and says nothing about it, or the store works again.

        If the fault missed what clients wrote the round does not count. No other one follows but where the store works again.
        """
        if round_.broken is not None:
            self.summary.needs_repair |= round_.broken.needs_repair
            self.summary.breaks(round_.broken.reason, round_.broken.log)
        elif round_.spoiled:
            self.summary.count(round_.shape, -1)
        elif not self._harmed and round_.reach is not None and (missed := round_.reach.missed(self._records)):
            self.summary.missed = missed
            self.summary.count(round_.shape, -1)
        else:
            self.summary.survived(self._at_risk)

    def finish(self, operations: Sequence[Operation]) -> None:
        """The rounds on this store are over."""
        counted = without_replies(operations, self._cut_off)
        self.summary.acknowledged += sum(each.outcome == "ok" for each in counted)
        self.summary.unknown += sum(each.outcome == "unknown" for each in counted)
