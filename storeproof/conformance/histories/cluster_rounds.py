"""Whether the rounds on a cluster can be those of a run: which fault struck in which, how long it lasted, and who took over when."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from storeproof.evidence import ClusterEvidence, EvidenceDamaged, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.faults import faults
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.spec.store import Topology


def check_cluster_rounds(
    part: StoreEvidence, turns: Sequence[str], topology: Topology | None, done: int, *, acknowledged: bool = True
) -> None:
    """Raises `EvidenceDamaged`: a round is not of the fault whose turn it was, or no such fault, cluster or failover goes like that.

    Args:
        turns: the faults of all rounds, by name.
        topology: the variant's; None: it is one server.
        done: the rounds on earlier clusters that count.
        acknowledged: whether the histories have what each node acknowledged first.
    """
    for number, each in enumerate(part.rounds, 1):
        where = f"round {number} of {part.case}"
        cluster, due = each.cluster, turns[done + number - 1 : done + number]
        if cluster is None or [cluster.fault] != [*due]:
            struck = "no fault of a cluster" if cluster is None else f"`{cluster.fault[:40]}`"
            raise EvidenceDamaged(f"{where} was struck by {struck}, where {due[0] if due else 'no further round'} was due")
        fault = faults()[cluster.fault]
        assert isinstance(fault, ClusterFault), "it tests a guarantee about nodes"
        nodes = () if topology is None else tuple(topology.nodes)
        if cluster.nodes and cluster.nodes != nodes:
            raise EvidenceDamaged(f"{where} has the nodes {', '.join(cluster.nodes)[:60]}, and the topology {', '.join(nodes)}")
        if topology is not None and cluster.succession is not None and cluster.succession.promoted != (topology.failover == "operator"):
            raise EvidenceDamaged(f"{where} does not say by whom another node was promoted, as the topology does")
        if cluster.lasts != (fault.lasts is not None):
            raise EvidenceDamaged(f"{where} does not say of `{fault.name}` for how long it lasts")
        if each.load_ended:
            _check_fault(each, cluster, fault, where)
            _check_failover(part, each, cluster, where, acknowledged=acknowledged)


def _check_fault(round_: RoundEvidence, cluster: ClusterEvidence, fault: ClusterFault, where: str) -> None:
    """Raises `EvidenceDamaged`: it did not last as this one does, or did not strike as often."""
    lost = fault.loses_node and fault.second_lasts is None
    if lost != (cluster.healed is None):
        raise EvidenceDamaged(
            f"{where}: `{fault.name}` ended {'under' if lost else 'after'} the load, and not {'after' if lost else 'under'} it"
        )
    if fault.lasts is not None and (cluster.healed or 0) - round_.struck < fault.lasts * 1e9:
        raise EvidenceDamaged(f"{where}: `{fault.name}` ended before its {fault.lasts:g} s were over")
    if (cluster.second is None) != (fault.second_lasts is None):
        raise EvidenceDamaged(f"{where}: `{fault.name}` struck {'once' if cluster.second is None else 'twice'}")


def _check_failover(part: StoreEvidence, round_: RoundEvidence, cluster: ClusterEvidence, where: str, *, acknowledged: bool) -> None:
    """Raises `EvidenceDamaged`: no node took over where one is named, or not by then."""
    if (cluster.successor is None) != (cluster.failed_over is None) or cluster.successor == cluster.struck:
        raise EvidenceDamaged(f"{where} has a failover without a node that took over, or the reverse")
    node_of = Connections(cluster.connections).node_of
    taken = [(cluster.successor, round_.struck, cluster.failed_over)]
    if cluster.second is not None and cluster.second.takeover is not None:
        if cluster.second.node != cluster.successor or cluster.second.takeover.node == cluster.successor:
            raise EvidenceDamaged(f"{where}: its second strike was at {cluster.second.node}, and {cluster.successor} had taken over")
        taken.append((cluster.second.takeover.node, cluster.second.moment, cluster.second.takeover.moment))
    for node, since, moment in taken:
        if moment is not None and acknowledged:
            first, end = (bisect_left(part.operations, each, key=attrgetter("invoked")) for each in (since, moment))
            answered = [each for each in part.operations[first:end] if each.outcome == "ok" and (each.completed or 0) <= moment]
            if not any(node_of(each) == node for each in answered):
                raise EvidenceDamaged(f"{where}: {node} had acknowledged nothing when it is said to have taken over")
