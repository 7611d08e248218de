"""Judges the rounds on one store: in a run as they happen, and again from their evidence. There is no other judge of them.

What a fault of a cluster may cost depends on whether it loses a node. If it does, all is also read while that node is gone, and what counts
is how long before the fault a write was acknowledged. If it does not, a primary that was replaced goes on acknowledging, up to the end of
the load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from storeproof.check import Anomaly, Audits, Finding, losses, staleness, unstartable
from storeproof.evidence import AuditEvidence, RoundEvidence
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.experiments.durability.clusters.round_record import Roles, WriteFates, record_of
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.struck_round import moments_of
from storeproof.experiments.fault_experiment import without_replies
from storeproof.history import Operation, Place, as_of
from storeproof.result.measured.cluster_round import SetAside


class RoundJudge:
    """Adds what happened to the sums. The methods are called in this order for each round, `audited` once for each of its audits."""

    def __init__(self, summary: DurabilitySummary, *, cuts_off: bool = False, stale_possible: bool = True) -> None:
        """
        Args:
            cuts_off: whether the fault takes the disk away from a store that still runs.
            stale_possible: whether the variant of a cluster says that its reads may be stale.
        """
        self.summary = summary
        self.audits = Audits()
        self._cuts_off = summary.damaging = cuts_off
        self._stale_possible = stale_possible
        self._cut_off: list[tuple[int, int]] = []
        """Intervals in which the store had lost its disk: operations that it answered within them are unknown."""
        self._findings: list[Finding] = []
        """Those of this round."""
        self._at_risk = 0
        """Operations that were acknowledged before the fault of this round."""
        self._records = 0
        """Different records that were written by these."""
        self._recorded = 0
        """The records of earlier rounds on a cluster."""

    def history(self, operations: Iterable[Operation], moment: int) -> list[Operation]:
        """The operations as they count at a moment, in nanoseconds. `operations`: of some or all keys, in order of invocation."""
        return without_replies(as_of(operations, moment), self._cut_off)

    def due(self, history: Sequence[Operation], *, everything: bool) -> dict[Place, list[Operation]]:
        """The keys that an audit of this round must read, with their operations."""
        return self.audits.due(history, everything=everything)

    def begin(self, round_: RoundEvidence) -> None:
        """A round begins."""
        self.summary.count(round_.shape)
        self.summary.striking = "" if round_.cluster is None else round_.cluster.fault
        self._recorded, self._findings, self._at_risk, self._records = len(self.summary.cluster_rounds), [], 0, 0

    def came_back(self, round_: RoundEvidence, operations: Callable[[], Sequence[Operation]]) -> None:
        """Its fault struck, its clients have ended, and the store has recovered; or any of these did not happen.

        If it does not start, nothing that it ever acknowledged can be read. The time of a failover is a number, not a promise; where the
        fault may have kept all nodes from taking over it is not counted.

        Args:
            operations: all on this store so far.

        Raises:
            ValueError: as `staleness` does.
        """
        if round_.load_ended and self._cuts_off:
            self._cut_off.append((round_.struck, round_.load_ended))
        self.summary.second_faults += round_.second_fault
        if round_.recovered is not None:
            self.summary.recoveries.append(round_.recovered)
        if (moment := round_.unstartable) is not None:
            ends = [each.completed for each in as_of(operations(), moment) if each.outcome == "ok" and each.completed is not None]
            self.summary.losses.append(unstartable(len(ends), min(ends, default=moment), moment))
        cluster = round_.cluster
        if cluster is None or not round_.load_ended:
            return
        if not cluster.lasts:
            if cluster.failed_over is None:
                self.summary.without_failover += 1
            else:
                self.summary.failovers.append((cluster.failed_over - round_.struck) / 1e9)
        if cluster.reads:
            self.summary.read(staleness(cluster.reads), stale_possible=self._stale_possible)

    def audited(self, history: Sequence[Operation], audit: AuditEvidence, round_: RoundEvidence) -> None:
        """The data was read back: while the lost node was gone, or in the end.

        Args:
            history: as it counts at the moment of the audit; on the keys that were due, and more.

        Raises:
            ValueError: as `Audits.judge` does.
        """
        self._findings += self.audits.judge(history, audit.seen)
        self.summary.gone.update(audit.gone)
        until = round_.load_ended if round_.cluster is None else round_.struck
        answered = [each for each in history if each.outcome == "ok" and each.invoked >= round_.began]
        at_risk = [each for each in answered if each.completed is not None and each.completed <= until]
        self._at_risk, self._records = len(at_risk), len({each.place for each in at_risk if each.action != "delete"})

    def compared(self, operations: Iterable[Operation], round_: RoundEvidence, set_aside: Sequence[SetAside] = ()) -> None:
        """The other nodes of a cluster were compared with the primary: the audits of this round are over.

        Args:
            operations: those of this round, and more.
            set_aside: what nodes undid in it.
        """
        cluster = round_.cluster
        assert cluster is not None, "it was a fault of a cluster"
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

    def end(self, round_: RoundEvidence) -> None:
        """The round is over: the store is unusable, or the round was spoiled and says nothing about it, or the store works again.

        A loss that was seen counts, whatever the machine does next. If the fault missed what clients wrote the round does not count. No
        other one follows but where the store works again.
        """
        if self._findings:
            self.summary.add(self._findings, losses(self._findings, loss_ends(round_)))
        if round_.audit is not None:
            self.audits.ended(round_.audit.ended)
        if round_.broken is not None:
            self.summary.needs_repair |= round_.broken.needs_repair
            self.summary.breaks(round_.broken.reason, round_.broken.log)
        elif round_.spoiled or (missed := self._missed(round_)):
            self.summary.missed = "" if round_.spoiled else missed
            self.summary.count(round_.shape, -1)
            del self.summary.cluster_rounds[self._recorded :]
            return
        else:
            self.summary.survived(self._at_risk)
        if round_.cluster is not None:
            self.summary.strikes[round_.cluster.fault] += 1

    def finish(self, operations: Sequence[Operation]) -> None:
        """The rounds on this store are over."""
        counted = without_replies(operations, self._cut_off)
        self.summary.acknowledged += sum(each.outcome == "ok" for each in counted)
        self.summary.unknown += sum(each.outcome == "unknown" for each in counted)

    def _missed(self, round_: RoundEvidence) -> str:
        """Why the fault struck nothing of what clients wrote; of a cluster, why it did not take what the lost node had."""
        if round_.reach is None or any(each.anomaly is not Anomaly.OK for each in self._findings):
            return ""
        return round_.reach.missed(self._records if round_.cluster is None else 0)  # a node may keep all in memory, as others do too


def loss_ends(round_: RoundEvidence) -> int:
    """Up to when an acknowledged write may be lost to the fault."""
    return round_.struck if round_.cluster is None or round_.cluster.healed is None else round_.load_ended
