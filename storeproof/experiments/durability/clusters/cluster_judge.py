"""Judges the rounds on one cluster: in a run as they happen, and again from their evidence. There is no other judge of them.

What a fault may cost depends on whether it loses a node. If it does, all is also read while that node is gone, and what counts is how long
before the fault a write was acknowledged. If it does not, a primary that was replaced goes on acknowledging, up to the end of the load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from storeproof.check import Anomaly, Audits, Finding, losses, staleness
from storeproof.evidence import AuditEvidence, ClusterEvidence, RoundEvidence
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.experiments.durability.clusters.round_record import Moments, Roles, WriteFates, record_of
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.history import Operation, Place, as_of
from storeproof.result.measured.cluster_round import SetAside


class ClusterJudge:
    """Adds what happened to the sums. Every method but `due` and `spoiled` is called at most once for a round, in this order."""

    def __init__(self, summary: DurabilitySummary, *, stale_possible: bool) -> None:
        """`stale_possible`: whether the variant says that its reads may be stale."""
        self.summary = summary
        self.audits = Audits()
        self._stale_possible = stale_possible
        self._findings: list[Finding] = []
        """Those of this round."""
        self._recorded = 0
        """The records of earlier rounds."""

    def begin(self, round_: RoundEvidence) -> None:
        """A round begins."""
        self.summary.count(round_.shape)
        self.summary.striking = _of(round_).fault
        self._recorded, self._findings = len(self.summary.cluster_rounds), []

    def load_ended(self, round_: RoundEvidence) -> None:
        """Its fault struck, and its clients have ended.

        The time of a failover is a number, not a promise; where the fault may have kept all from taking over it is not counted.
        """
        cluster = _of(round_)
        if not cluster.lasts:
            if cluster.failed_over is None:
                self.summary.without_failover += 1
            else:
                self.summary.failovers.append((cluster.failed_over - round_.struck) / 1e9)
        if cluster.reads:
            self.summary.read(staleness(cluster.reads), stale_possible=self._stale_possible)

    def due(self, operations: Iterable[Operation], moment: int, *, everything: bool) -> dict[Place, list[Operation]]:
        """The keys that an audit at that moment must read, with their operations."""
        return self.audits.due(as_of(operations, moment), everything=everything)

    def audited(self, operations: Iterable[Operation], audit: AuditEvidence, round_: RoundEvidence) -> None:
        """The data was read back, without the lost node or from the whole cluster.

        `operations`: on the keys that were due, and more; in order of invocation. Raises `ValueError` as `Audits.judge` does.
        """
        findings, _ = self.audits.judge(as_of(operations, audit.moment), audit.seen, loss_ends(round_))
        self.summary.gone.update(audit.gone)
        self._findings += findings

    def compared(self, operations: Iterable[Operation], round_: RoundEvidence, set_aside: Sequence[SetAside] = ()) -> None:
        """The other nodes were compared with the primary: the audits of this round are over.

        Args:
            operations: those of this round, and more.
            set_aside: what nodes undid in it.
        """
        cluster = _of(round_)
        assert round_.audit is not None, "the primary was read first"
        record = record_of(
            cluster.fault,
            Roles(cluster.nodes, cluster.struck, cluster.successor, cluster.primary),
            moments_of(round_),
            operations,
            WriteFates(self._findings),
            node_of=Connections(cluster.connections).node_of,
            set_aside=set_aside,
        )
        self.summary.cluster_rounds.append(record)
        for each in cluster.others:
            self.summary.compare(each.node, None if each.unlike is None else list(each.unlike))
        self.audits.ended(round_.audit.ended)

    def end(self, round_: RoundEvidence) -> None:
        """The audits are over, also by an error: a loss that was seen counts, whatever the machine does next."""
        if self._findings:
            self.summary.add(self._findings, losses(self._findings, loss_ends(round_)))

    def survived(self, operations: Iterable[Operation], round_: RoundEvidence) -> None:
        """The cluster takes writes again, and returns them. If the fault did not take what the lost node had, the round does not count, and
        no other one follows. `operations`: those of this round, and more."""
        harmed = any(each.anomaly is not Anomaly.OK for each in self._findings)
        if not harmed and round_.reach is not None and (missed := round_.reach.missed(0)):
            self.summary.missed = missed
            self.spoiled(round_)
            return
        self.summary.survived(
            sum(
                each.outcome == "ok" and each.invoked >= round_.began and each.completed is not None and each.completed <= round_.struck
                for each in operations
            )
        )
        self.summary.strikes[_of(round_).fault] += 1

    def broke(self, round_: RoundEvidence) -> None:
        """The cluster is unusable: no other round follows."""
        assert round_.broken is not None
        self.summary.needs_repair |= round_.broken.needs_repair
        self.summary.breaks(round_.broken.reason, round_.broken.log)
        self.summary.strikes[_of(round_).fault] += 1

    def spoiled(self, round_: RoundEvidence) -> None:
        """The round says nothing about the store, and does not count; no other round follows on this cluster."""
        self.summary.count(round_.shape, -1)
        del self.summary.cluster_rounds[self._recorded :]

    def finish(self, operations: Sequence[Operation]) -> None:
        """The rounds on this cluster are over."""
        self.summary.acknowledged += sum(each.outcome == "ok" for each in operations)
        self.summary.unknown += sum(each.outcome == "unknown" for each in operations)


def moments_of(round_: RoundEvidence) -> Moments:
    """Those of a round that was read back."""
    cluster = _of(round_)
    return Moments(
        began=round_.began,
        strike=cluster.strike,
        struck=round_.struck,
        failed_over=cluster.failed_over,
        second=cluster.second,
        healed=cluster.healed,
        ended=round_.load_ended,
    )


def loss_ends(round_: RoundEvidence) -> int:
    """Up to when an acknowledged write may be lost to the fault."""
    return round_.struck if _of(round_).healed is None else round_.load_ended


def _of(round_: RoundEvidence) -> ClusterEvidence:
    assert round_.cluster is not None, "it was a fault of a cluster"
    return round_.cluster
