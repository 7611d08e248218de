"""One round, as its evidence shows it: all that a workload is judged by, in a run and again by `verify`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from storeproof.evidence import RoundEvidence
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.experiments.durability.clusters.round_record import Fates, Moments, Roles, S, Sent, record_of
from storeproof.experiments.fault_experiment import without_replies
from storeproof.history import Operation
from storeproof.result.measured.cluster_round import ClusterRoundRecord

_SERVER: Final = "the server"


@dataclass(frozen=True)
class StruckRound:
    """A round that was read back."""

    seen: RoundEvidence
    fault: str
    """Its name."""
    cuts_off: bool
    """Whether the fault takes the disk away from a store that still runs: what it answers then is unknown."""
    sent: Sequence[Operation] = ()
    """The operations of the round, in order of invocation."""

    @property
    def moments(self) -> Moments:
        """When what happened. The fault of a server has struck as it begins."""
        return moments_of(self.seen)

    @property
    def lost_disk(self) -> list[tuple[int, int]]:
        """Begin and end of the intervals in which an answer says nothing."""
        return [(self.seen.struck, self.seen.load_ended)] if self.cuts_off else []

    @property
    def operations(self) -> list[Operation]:
        """As they count."""
        return without_replies(self.sent, self.lost_disk)

    @cached_property
    def _connections(self) -> Connections:
        return Connections(() if self.seen.cluster is None else self.seen.cluster.connections)

    def node_of(self, sent: Sent) -> str | None:
        """The node that it was sent to; None if its client is none that was noted."""
        return _SERVER if self.seen.cluster is None else self._connections.node_of(sent)

    def record(self, sent: Iterable[S], fates: Fates[S], wrong: Sequence[str]) -> ClusterRoundRecord | None:
        """What a result keeps of the round by node; None of a single server. `wrong`: the first that are, in words."""
        cluster = self.seen.cluster
        if cluster is None:
            return None
        roles = Roles(cluster.nodes, cluster.struck, cluster.successor, cluster.primary)
        return record_of(cluster.fault, roles, self.moments, sent, fates, node_of=self.node_of, wrong=wrong)


def moments_of(round_: RoundEvidence) -> Moments:
    """Those of a round. The fault of a server has struck as it begins."""
    cluster = round_.cluster
    if cluster is None:
        return Moments(round_.began, round_.struck, round_.struck, ended=round_.load_ended)
    return Moments(
        began=round_.began,
        strike=cluster.strike,
        struck=round_.struck,
        failed_over=cluster.failed_over,
        succession=cluster.succession,
        second=cluster.second,
        healed=cluster.healed,
        ended=round_.load_ended,
    )
