"""Judges the rounds of a fault again, from their evidence.

The time grows with the size of the evidence alone, since it may be forged to take for ever.
"""

from __future__ import annotations

from storeproof.evidence import EvidenceDamaged, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.audit_histories import AuditHistories
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.replayed_rounds import check_follows, check_read, last_in_order
from storeproof.experiments.durability.round_judge import RoundJudge


def replay(store: StoreEvidence, summary: DurabilitySummary) -> None:
    """Add the rounds on one store to the sums.

    Raises:
        EvidenceDamaged: a key that had to be read back was not, the order of events is none of a run, or the checks cannot judge it.
    """
    judge = RoundJudge(summary, cuts_off=store.cuts_off)
    histories = AuditHistories(store.operations)
    last = 0
    for number, each in enumerate(store.rounds, 1):
        where = f"round {number} of {store.case}"
        check_follows(store, number, summary, where)
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
    return last_in_order(times, last, where)


def _audit(judge: RoundJudge, histories: AuditHistories, round_: RoundEvidence, where: str) -> None:
    assert round_.audit is not None
    history = judge.history(histories.of(judge.audits, round_.audit), round_.audit.moment)
    check_read(judge.due(history, everything=round_.audit.everything), round_.audit, where)
    try:
        judge.audited(history, round_)
    except ValueError as reason:
        raise EvidenceDamaged(f"{where} cannot be judged: {reason}") from None
