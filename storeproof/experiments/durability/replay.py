"""Judges the rounds of a fault again, from their evidence.

The time grows with the size of the evidence alone, since it may be forged to take for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from storeproof.evidence import AuditEvidence, EvidenceDamaged, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.audit_histories import AuditHistories
from storeproof.experiments.durability.clusters.kept_rounds import check_compared, times_of_cluster
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.rounds_summary import RoundsSummary, WorkloadSummary

_WRITES: Final = ("put", "delete", "increment")
_LATEST: Final = 1 << 63
"""A time after all."""


def replay(store: StoreEvidence, summary: DurabilitySummary, *, stale_possible: bool = True) -> None:
    """Add the rounds on one store to the sums. `stale_possible`: whether the variant of a cluster says that its reads may be stale.

    Raises:
        EvidenceDamaged: a key that had to be read back was not, the order of events is none of a run, or the checks cannot judge it.
    """
    if strange := next((each.action for each in store.operations if each.action not in _WRITES), None):
        raise EvidenceDamaged(f"the histories of {store.case} have a {strange}, and records are written and deleted")
    judge = RoundJudge(summary, cuts_off=store.cuts_off, stale_possible=stale_possible)
    histories = AuditHistories(store.operations)
    for where, each in _rounds(store, summary):
        with _judging(where):
            _judge_records(judge, histories, store, each, where)
    judge.finish(store.operations)


def replay_workload(store: StoreEvidence, summary: WorkloadSummary, fault: str) -> None:
    """As `replay`, of rounds that are each judged by itself. `fault`: that of all rounds on one server."""
    histories, judged = AuditHistories(store.operations), 0
    begins = [each.began for each in store.rounds]
    for (where, each), end in zip(_rounds(store, summary), [*begins[1:], _LATEST], strict=True):
        if each.audit is not None or each.broken is not None or each.spoiled:
            continue
        if not each.struck or not each.load_ended:
            raise EvidenceDamaged(f"{where} was not struck, and nothing says why")
        sent = histories.between(each.began, end - 1)
        judged += len(sent)
        if each.transfers is not None and not all(each.began <= one.invoked <= each.load_ended for one in each.transfers.sent):
            raise EvidenceDamaged(f"{where} has transfers that were sent before or after its load")
        if each.transactions is not None and not all(each.began <= one.invoked < end for one in each.transactions.sent):
            raise EvidenceDamaged(f"{where} has transactions that were sent in another one")
        with _judging(where):
            records = summary.judge(StruckRound(each, fault if each.cluster is None else each.cluster.fault, store.cuts_off, sent))
        if not summary.findings and each.reach is not None and (missed := each.reach.missed(records if each.cluster is None else 0)):
            raise EvidenceDamaged(f"{where} counts, and its fault missed what clients wrote: {missed}")
    if judged != len(store.operations):
        raise EvidenceDamaged(f"the histories of {store.case} have {len(store.operations) - judged} operations of no round that counts")


def _rounds(store: StoreEvidence, summary: RoundsSummary) -> Iterator[tuple[str, RoundEvidence]]:
    """Each round, with what messages call it. Raises `EvidenceDamaged`: it is not one that follows the one before it."""
    last = 0
    for number, each in enumerate(store.rounds, 1):
        where = f"round {number} of {store.case}"
        before = store.rounds[number - 2] if number > 1 else None
        if summary.over or (before is not None and (before.spoiled or before.broken is not None)):
            raise EvidenceDamaged(f"{where} follows one after which there is none")
        last = _in_order(each, last, where)
        yield where, each


@contextmanager
def _judging(where: str) -> Iterator[None]:
    """Raises `EvidenceDamaged` in place of `ValueError`, which checks raise of what no run does."""
    try:
        yield
    except EvidenceDamaged:
        raise
    except ValueError as reason:
        raise EvidenceDamaged(f"{where} cannot be judged: {reason}") from None


def _judge_records(judge: RoundJudge, histories: AuditHistories, store: StoreEvidence, round_: RoundEvidence, where: str) -> None:
    judge.begin(round_)
    if round_.unstartable is not None and round_.audit is not None:
        raise EvidenceDamaged(f"{where} was read back from a store that did not start")
    judge.came_back(round_, lambda: store.operations)
    cluster = round_.cluster
    if cluster is not None and cluster.without is not None:
        if cluster.without.everything:
            raise EvidenceDamaged(f"{where} read the keys of all rounds without the lost node, which none does")
        _audit(judge, histories, cluster.without, round_, where)
    if round_.audit is not None:
        if round_.audit.everything and round_ is not store.rounds[-1]:
            raise EvidenceDamaged(f"{where} read the keys of all rounds, which the last one does")
        _audit(judge, histories, round_.audit, round_, where)
        if cluster is not None:
            check_compared(cluster, round_.audit, where)
            judge.compared(histories.between(round_.began, round_.load_ended), round_)
    answered = round_.audit is not None and (cluster is not None or round_.recovered is not None)
    if round_.broken is None and not round_.spoiled and not answered:
        raise EvidenceDamaged(f"{where} ended without an audit, and nothing says why")
    judge.end(round_)


def _audit(judge: RoundJudge, histories: AuditHistories, audit: AuditEvidence, round_: RoundEvidence, where: str) -> None:
    history = judge.history(histories.of(judge.audits, audit), audit.moment)
    if differing := judge.due(history, everything=audit.everything).keys() ^ audit.seen.keys():
        raise EvidenceDamaged(f"{where}: {len(differing)} keys were to be read back and were not, or the reverse")
    judge.audited(history, audit, round_)


def _in_order(round_: RoundEvidence, last: int, where: str) -> int:
    """The time of the round's last event. `last`: that of the round before. Raises `EvidenceDamaged`: they are not in order."""
    times = times_of_cluster(round_, where) if round_.cluster is not None else _times(round_)
    if times != sorted(times) or times[0] < max(last, 1):
        raise EvidenceDamaged(f"{where} has times that are not in order")
    return times[-1]


def _times(round_: RoundEvidence) -> list[int]:
    """Those of one server, as they follow each other."""
    times = [round_.began]
    if round_.struck or round_.load_ended or round_.audit is not None:  # else it ended before its fault
        times.append(round_.struck)
    if round_.load_ended or round_.audit is not None:
        times.append(round_.load_ended)
    return times + ([] if round_.audit is None else [round_.audit.moment, round_.audit.ended])
