"""What the evidence of a round on a cluster must satisfy before it is judged again."""

from __future__ import annotations

from storeproof.evidence import AuditEvidence, ClusterEvidence, EvidenceDamaged, RoundEvidence


def check_compared(cluster: ClusterEvidence, audit: AuditEvidence, where: str) -> None:
    """Raises `EvidenceDamaged`: it was not read without the node that it lost, or not each other node was compared with the primary."""
    if (cluster.without is None) != (cluster.healed is not None):
        raise EvidenceDamaged(f"{where} was {'not ' if cluster.without is None else ''}read without its lost node, and it lost one or none")
    due = [name for name in cluster.nodes if name != cluster.primary]
    if cluster.primary not in cluster.nodes or [each.node for each in cluster.others] != due:
        raise EvidenceDamaged(f"{where} does not compare each other node with the primary once, in their order")
    if any(each.unlike and each.unlike.keys() - audit.seen.keys() for each in cluster.others):
        raise EvidenceDamaged(f"{where} compares records that were not read from the primary")
    if any(value == audit.seen[place] for each in cluster.others for place, value in (each.unlike or {}).items()):
        raise EvidenceDamaged(f"{where} calls records unlike that are alike")


def check_succession(cluster: ClusterEvidence, where: str) -> None:
    """Raises `EvidenceDamaged`: the parts of its failover do not follow each other, or there was none."""
    found = cluster.succession
    if found is None:
        return
    parts = [cluster.strike, found.before, found.elected, cluster.failed_over]
    detected = [cluster.strike, found.missed, found.elected, cluster.failed_over]
    known = [[each for each in some if each is not None] for some in (parts, detected)]
    if cluster.failed_over is None or cluster.lasts or any(some != sorted(some) for some in known):
        raise EvidenceDamaged(f"{where}: the parts of its failover do not follow each other, or there was none")
    if (found.elected is None) != (found.before is None) or (found.promoted and (found.missed is not None or found.elected is None)):
        raise EvidenceDamaged(f"{where} has parts of a failover that no run sees together")


def times_of_cluster(round_: RoundEvidence, where: str) -> list[int]:
    """Its times, as they follow each other. Raises `EvidenceDamaged`: it has what no round of a cluster has."""
    cluster = round_.cluster
    if cluster is None or round_.shape != "stream" or round_.second_fault or round_.recovered is not None or round_.unstartable is not None:
        raise EvidenceDamaged(f"{where} is none of a cluster")
    times = [round_.began]
    if round_.load_ended or round_.audit is not None:  # else it ended before its clients
        times += [cluster.strike, round_.struck]
        second = cluster.second
        again = () if second is None else (second.moment, None if second.takeover is None else second.takeover.moment)
        until = (cluster.healed, cluster.failed_over) if cluster.lasts else (cluster.failed_over, *again, cluster.healed)
        times += [each for each in until if each is not None]
        times += [round_.load_ended]
    check_succession(cluster, where)
    times += [] if cluster.without is None else [cluster.without.moment, cluster.without.ended]
    if round_.audit is not None:
        times += [round_.audit.moment, *(each.ended for each in cluster.others), round_.audit.ended]
    return times
