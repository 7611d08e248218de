"""Judges the rounds of a fault again, from their evidence.

The time grows with the size of the evidence alone, since it may be forged to take for ever.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from storeproof.evidence import EvidenceDamaged, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.history import Operation, Place, by_place

_MOST_LOOKS: Final = 750_000
"""Operations that the audits on one store may look at: in a run, each twice, and some more where groups were harmed."""


def replay(store: StoreEvidence, summary: DurabilitySummary) -> None:
    """Add the rounds on one store to the sums.

    Raises:
        EvidenceDamaged: a key that had to be read back was not, the order of events is none of a run, or the checks cannot judge it.
    """
    judge = RoundJudge(summary, cuts_off=store.cuts_off)
    histories = _Histories(store.operations)
    last = 0
    for number, each in enumerate(store.rounds, 1):
        where = f"round {number} of {store.case}"
        if summary.broken or summary.missed or (number > 1 and store.rounds[number - 2].spoiled):
            raise EvidenceDamaged(f"{where} follows one after which there is none")
        last = _in_order(each, last, where)
        judge.begin(each)
        if each.unstartable is not None and each.audit is not None:
            raise EvidenceDamaged(f"{where} was read back from a store that did not start")
        judge.came_back(each, lambda: store.operations)
        if each.audit is not None:
            if each.audit.everything and number < len(store.rounds):
                raise EvidenceDamaged(f"{where} read the keys of all rounds, which the last one does")
            _audit(judge, histories, each, where)
        if each.broken is None and not each.spoiled and (each.audit is None or each.recovered is None):
            raise EvidenceDamaged(f"{where} ended without an audit, and nothing says why")
        judge.end(each)
    judge.finish(store.operations)


def _in_order(round_: RoundEvidence, last: int, where: str) -> int:
    """The time of the round's last event. Raises `EvidenceDamaged`: it is not after those before it."""
    times = [round_.began]
    if round_.struck or round_.load_ended or round_.audit is not None:  # else it ended before its fault
        times.append(round_.struck)
    if round_.load_ended or round_.audit is not None:
        times.append(round_.load_ended)
    if round_.audit is not None:
        times += [round_.audit.moment, round_.audit.ended]
    if times != sorted(times) or round_.began < max(last, 1):
        raise EvidenceDamaged(f"{where} has times that are not in order")
    return times[-1]


def _audit(judge: RoundJudge, histories: _Histories, round_: RoundEvidence, where: str) -> None:
    assert round_.audit is not None
    history = judge.history(histories.of(judge, round_), round_.audit.moment)
    missing = judge.due(history, everything=round_.audit.everything).keys() ^ round_.audit.seen.keys()
    if missing:
        raise EvidenceDamaged(f"{where}: {len(missing)} keys were to be read back and were not, or the reverse")
    try:
        judge.audited(history, round_)
    except ValueError as reason:
        raise EvidenceDamaged(f"{where} cannot be judged: {reason}") from None


class _Histories:
    """The operations of one store, for the audit of each round only those that it depends on."""

    def __init__(self, operations: list[Operation]) -> None:
        self._operations = operations
        self._invoked = [each.invoked for each in operations]
        self._by_place = by_place(operations)
        self._groups: dict[str, set[Place]] = {}
        """The keys that were written together, by write id."""
        first: dict[str, Place] = {}
        for each in operations:
            if each.write_id and first.setdefault(each.write_id, each.place) != each.place:
                self._groups.setdefault(each.write_id, {first[each.write_id]}).add(each.place)
        self._looks = 0

    def of(self, judge: RoundJudge, round_: RoundEvidence) -> Iterable[Operation]:
        """All operations on the keys that were written since the last audit, and on those with an anomaly that were written together with
        one of these; in order of invocation."""
        assert round_.audit is not None
        if round_.audit.everything:
            found = self._operations
        else:
            first, end = bisect_left(self._invoked, judge.audits.audited), bisect_right(self._invoked, round_.audit.moment)
            places = {each.place for each in self._operations[first:end]}
            written = {each.write_id for place in places for each in self._by_place[place]}
            together = {place for write_id in written for place in self._groups.get(write_id, ())}
            places |= together & judge.audits.harmed
            found = [each for place in places for each in self._by_place[place]]
            found.sort(key=lambda each: each.invoked)
        self._looks += len(found)
        if self._looks > _MOST_LOOKS:
            raise EvidenceDamaged(f"its audits look at more than {_MOST_LOOKS:,} operations, the most that is judged again")
        return found
