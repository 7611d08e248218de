"""Judges the rounds on one cluster again, from their evidence.

The time grows with the size of the evidence alone, since it may be forged to take for ever.
"""

from __future__ import annotations

from storeproof.evidence import AuditEvidence, ClusterEvidence, EvidenceDamaged, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.audit_histories import AuditHistories
from storeproof.experiments.durability.clusters.cluster_judge import ClusterJudge
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.replayed_rounds import check_follows, check_read, last_in_order


def replay_cluster(store: StoreEvidence, summary: DurabilitySummary, *, stale_possible: bool) -> None:
    """Add the rounds on one cluster to the sums.

    Args:
        stale_possible: whether the variant says that its reads may be stale.

    Raises:
        EvidenceDamaged: a key that had to be read back was not, the order of events is none of a run, or the checks cannot judge it.
    """
    judge = ClusterJudge(summary, stale_possible=stale_possible)
    histories = AuditHistories(store.operations)
    last = 0
    for number, each in enumerate(store.rounds, 1):
        where = f"round {number} of {store.case}"
        check_follows(store, number, summary, where)
        last = _in_order(each, _of(each, where), last, where)
        judge.begin(each)
        if each.load_ended:
            try:
                judge.load_ended(each)
            except ValueError as reason:
                raise EvidenceDamaged(f"{where} cannot be judged: {reason}") from None
        _audits(judge, histories, each, where, last_one=number == len(store.rounds))
        judge.end(each)
        if each.broken is not None:
            judge.broke(each)
        elif each.spoiled:
            judge.spoiled(each)
        elif each.audit is not None:
            judge.survived(histories.between(each.began, each.struck), each)
        else:
            raise EvidenceDamaged(f"{where} ended without an audit, and nothing says why")
    judge.finish(store.operations)


def _audits(judge: ClusterJudge, histories: AuditHistories, round_: RoundEvidence, where: str, *, last_one: bool) -> None:
    """While the lost node was gone, and of the whole cluster."""
    cluster = _of(round_, where)
    if cluster.without is not None:
        if cluster.without.everything:
            raise EvidenceDamaged(f"{where} read the keys of all rounds without the lost node, which none does")
        _audit(judge, histories, round_, cluster.without, where)
    if round_.audit is None:
        return
    if round_.audit.everything and not last_one:
        raise EvidenceDamaged(f"{where} read the keys of all rounds, which the last one does")
    if (cluster.without is None) != (cluster.healed is not None):
        raise EvidenceDamaged(f"{where} was {'not ' if cluster.without is None else ''}read without its lost node, and it lost one or none")
    _audit(judge, histories, round_, round_.audit, where)
    due = [name for name in cluster.nodes if name != cluster.primary]
    if cluster.primary not in cluster.nodes or [each.node for each in cluster.others] != due:
        raise EvidenceDamaged(f"{where} does not compare each other node with the primary once, in their order")
    if any(each.unlike and each.unlike.keys() - round_.audit.seen.keys() for each in cluster.others):
        raise EvidenceDamaged(f"{where} compares records that were not read from the primary")
    if any(value == round_.audit.seen[place] for each in cluster.others for place, value in (each.unlike or {}).items()):
        raise EvidenceDamaged(f"{where} calls records unlike that are alike")
    judge.compared(histories.between(round_.began, round_.load_ended), round_)


def _audit(judge: ClusterJudge, histories: AuditHistories, round_: RoundEvidence, audit: AuditEvidence, where: str) -> None:
    operations = histories.of(judge.audits, audit)
    check_read(judge.due(operations, audit.moment, everything=audit.everything), audit, where)
    try:
        judge.audited(operations, audit, round_)
    except ValueError as reason:
        raise EvidenceDamaged(f"{where} cannot be judged: {reason}") from None


def _in_order(round_: RoundEvidence, cluster: ClusterEvidence, last: int, where: str) -> int:
    """The time of the round's last event. Raises `EvidenceDamaged`: it is not after those before it."""
    times = [round_.began]
    if round_.load_ended or round_.audit is not None:  # else it ended before its clients
        times += [cluster.strike, round_.struck]
        second = cluster.second
        again = () if second is None else (second.moment, None if second.takeover is None else second.takeover.moment)
        until = (cluster.healed, cluster.failed_over) if cluster.lasts else (cluster.failed_over, *again, cluster.healed)
        times += [each for each in until if each is not None]
        times += [round_.load_ended]
    times += _audit_times(cluster.without)
    if round_.audit is not None:
        times += [round_.audit.moment, *(each.ended for each in cluster.others), round_.audit.ended]
    return last_in_order(times, last, where)


def _audit_times(audit: AuditEvidence | None) -> list[int]:
    return [] if audit is None else [audit.moment, audit.ended]


def _of(round_: RoundEvidence, where: str) -> ClusterEvidence:
    if round_.cluster is None or round_.shape != "stream" or round_.second_fault or round_.recovered is not None:
        raise EvidenceDamaged(f"{where} is none of a cluster")
    return round_.cluster
