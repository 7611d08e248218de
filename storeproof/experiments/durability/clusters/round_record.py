"""What a result keeps of one round on a cluster, made of its history after the round: nothing is counted while clients write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from storeproof.check import Anomaly, Finding
from storeproof.evidence import Second, Succession
from storeproof.history import Operation, RequestOutcome
from storeproof.result.measured.cluster_round import (
    BIN_SECONDS,
    ClusterRoundRecord,
    FailoverParts,
    NodeCourse,
    NodeSpan,
    Phase,
    SecondStrike,
    SetAside,
)

_BIN_NS = int(BIN_SECONDS * 1e9)
_PHASES: Sequence[Phase] = ("before", "during", "after")
_DAMAGED = (Anomaly.TORN, Anomaly.INVENTED)
"""A record that was damaged in place does not show which writes are missing; see `losses`."""


class Sent(Protocol):
    """What a client asked a node for: an operation, or a transfer."""

    @property
    def client(self) -> int:
        """Its number."""

    @property
    def invoked(self) -> int:
        """When, in nanoseconds on one clock for all clients."""

    @property
    def completed(self) -> int | None:
        """When the answer arrived; None if there was none."""

    @property
    def outcome(self) -> RequestOutcome:
        """How it ended."""


S = TypeVar("S", bound=Sent)
S_contra = TypeVar("S_contra", bound=Sent, contravariant=True)


class Fates(Protocol[S_contra]):
    """What became of what was acknowledged."""

    def lost(self, sent: S_contra, /) -> bool:
        """Whether what was read excludes it."""

    def found(self, sent: S_contra, /) -> bool:
        """Whether it was read in the end."""


@dataclass
class Moments:
    """Those of one round, in nanoseconds on the clock of the operations."""

    began: int = 0
    """The load."""
    strike: int = 0
    """The fault began."""
    struck: int = 0
    """It had struck."""
    failed_over: int | None = None
    succession: Succession | None = None
    second: Second | None = None
    healed: int | None = None
    """It began to end, under load."""
    ended: int = 0
    """The load had ended."""

    def phase_of(self, operation: Sent) -> Phase:
        """When it was acknowledged, or, if it was not, when it was sent."""
        moment = operation.invoked if operation.outcome != "ok" or operation.completed is None else operation.completed
        if moment < self.strike:
            return "before"
        return "during" if self.healed is None or moment < self.healed else "after"

    def second_of(self, moment: int) -> float:
        """Relative to the fault, in milliseconds' precision."""
        return round((moment - self.struck) / 1e9, 3)

    def second_of_any(self, moment: int | None) -> float | None:
        """None if it did not come."""
        return None if moment is None else self.second_of(moment)


@dataclass(frozen=True)
class Roles:
    """Who was who in the round."""

    nodes: Sequence[str]
    struck: str
    successor: str | None
    primary: str
    """In the end."""


def record_of(
    fault: str,
    roles: Roles,
    moments: Moments,
    operations: Iterable[S],
    fates: Fates[S],
    *,
    node_of: Callable[[S], str | None],
    set_aside: Sequence[SetAside] = (),
    wrong: Sequence[str] = (),
) -> ClusterRoundRecord:
    """The record of a round.

    Args:
        operations: of this round or of all.
        node_of: the node that an operation was sent to; None for one that is not of the clients under the fault.
        wrong: the first that are, in words.
    """
    answered: dict[tuple[str, Phase], list[S]] = {}
    for each in operations:
        if moments.began <= each.invoked <= moments.ended and (node := node_of(each)) is not None:
            answered.setdefault((node, moments.phase_of(each)), []).append(each)
    return ClusterRoundRecord(
        fault=fault,
        nodes=list(roles.nodes),
        struck=roles.struck,
        successor=roles.successor,
        primary=roles.primary,
        began_second=moments.second_of(moments.began),
        strike_second=moments.second_of(moments.strike),
        failover_second=moments.second_of_any(moments.failed_over),
        healed_second=moments.second_of_any(moments.healed),
        ended_second=moments.second_of(moments.ended),
        spans=[
            _span(node, phase, answered[node, phase], fates, moments)
            for node in roles.nodes
            for phase in _PHASES
            if (node, phase) in answered
        ],
        course=[
            course
            for node in roles.nodes
            if (course := _course(node, [each for phase in _PHASES for each in answered.get((node, phase), ())], fates, moments))
        ],
        set_aside=list(set_aside),
        wrong=list(wrong),
        second_strike=None if moments.second is None else _second_strike(moments.second, moments),
        failover=None if moments.succession is None else _failover_parts(moments.succession, moments),
    )


class WriteFates:
    """What became of acknowledged writes, by the findings of the round's audits in their order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._missing = {each for finding in findings if finding.anomaly not in _DAMAGED for each in finding.missing}
        in_the_end = {(finding.collection, finding.key): finding for finding in findings if finding.anomaly is not Anomaly.SPLIT}
        self._survivors = {finding.survivor for finding in in_the_end.values()}
        self._right = {place for place, finding in in_the_end.items() if finding.anomaly is Anomaly.OK}

    def lost(self, write: Operation, /) -> bool:
        """Whether what was read excludes it."""
        return write in self._missing

    def found(self, write: Operation, /) -> bool:
        """Whether it was read in the end. A counter that is right has all of its increments."""
        if write.action == "increment":
            return write.place in self._right
        return write in self._survivors and write not in self._missing


def _second_strike(second: Second, moments: Moments) -> SecondStrike:
    taken = second.takeover
    return SecondStrike(
        node=second.node,
        second=moments.second_of(second.moment),
        successor=None if taken is None else taken.node,
        failover_second=None if taken is None else moments.second_of(taken.moment),
    )


def _failover_parts(succession: Succession, moments: Moments) -> FailoverParts:
    return FailoverParts(
        promoted_by="storeproof" if succession.promoted else "store",
        detected_second=moments.second_of_any(succession.missed),
        elected_second=moments.second_of_any(succession.elected),
        before_second=moments.second_of_any(succession.before),
    )


def _span(node: str, phase: Phase, operations: Sequence[S], fates: Fates[S], moments: Moments) -> NodeSpan:
    ended = Counter(each.outcome for each in operations)
    acknowledged = [each for each in operations if each.outcome == "ok"]
    last = max((each.completed for each in acknowledged if each.completed is not None), default=None)
    return NodeSpan(
        node=node,
        phase=phase,
        acknowledged=ended["ok"],
        found=sum(map(fates.found, acknowledged)),
        lost=sum(map(fates.lost, acknowledged)),
        unknown=ended["unknown"],
        refused=ended["refused"],
        last_second=moments.second_of_any(last),
    )


def _course(node: str, operations: Sequence[S], fates: Fates[S], moments: Moments) -> NodeCourse | None:
    """None if it acknowledged nothing."""
    bins, found, lost = Counter[int](), Counter[int](), Counter[int]()
    for each in operations:
        if each.outcome == "ok" and each.completed is not None:
            number = (each.completed - moments.struck) // _BIN_NS
            bins[number] += 1
            found[number] += fates.found(each)
            lost[number] += fates.lost(each)
    if not bins:
        return None
    numbers = range(min(bins), max(bins) + 1)
    acknowledged, there, gone = ([counts[each] for each in numbers] for counts in (bins, found, lost))
    return NodeCourse(node=node, first=min(bins), acknowledged=acknowledged, found=there, lost=gone)
