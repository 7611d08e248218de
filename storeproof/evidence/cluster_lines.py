"""How a round on a cluster is written, as a part of the line of the round. Nodes are numbers in the order in which the line names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from storeproof.evidence.cluster_round import ClusterEvidence, Connection, NodeAudit, Second, Succession, Takeover
from storeproof.evidence.notation import (
    ACTIONS,
    ENDINGS,
    LETTERS,
    UNKNOWN,
    AuditOnLine,
    EvidenceDamaged,
    KnownKeys,
    LinePart,
    Nanoseconds,
    Number,
    SeenOfKeys,
    after_each_other,
    audit_on_line,
    seen_of_keys,
)
from storeproof.history import Operation, Place

_MOST_NODES: Final = 16
_WATCHED: Final[Place] = ("register", "")
"""The place of the one key that is watched in a round: its name says nothing."""
_WATCH: Final = ("get", "put")


class TakeoverOnLine(LinePart):
    """Who took over."""

    node: Number
    moment: Nanoseconds


class SecondOnLine(LinePart):
    """The second strike."""

    node: Number
    moment: Nanoseconds
    takeover: TakeoverOnLine | None


class SuccessionOnLine(LinePart):
    """How the first of them became the primary. See `Succession`."""

    promoted: bool
    missed: Nanoseconds | None
    elected: Nanoseconds | None
    before: Nanoseconds | None


class ConnectionsOnLine(LinePart):
    """Connections that clients opened, in columns."""

    client: list[Number]
    moment: list[Nanoseconds]
    node: list[Number]


class ReadsOnLine(LinePart):
    """Reads and writes of the watched key in order of invocation, in columns."""

    client: list[Number]
    action: str
    after: list[Nanoseconds]
    """Nanoseconds from the invocation of the operation before."""
    took: list[Nanoseconds]
    """Nanoseconds to the reply; -1 if it was lost."""
    outcome: str
    value: list[str | None]
    """The write id that was written, or read; None: nothing was read."""


class NodeAuditOnLine(LinePart):
    """How another node differed from the primary."""

    node: Number
    unlike: SeenOfKeys | None
    ended: Nanoseconds


class ClusterOnLine(LinePart):
    """See `ClusterEvidence`."""

    fault: str
    lasts: bool
    nodes: list[str]
    struck: Number | None
    strike: Nanoseconds
    successor: Number | None
    failed_over: Nanoseconds | None
    second: SecondOnLine | None
    healed: Nanoseconds | None
    connections: ConnectionsOnLine
    reads: ReadsOnLine
    without: AuditOnLine | None
    primary: Number | None
    others: list[NodeAuditOnLine]


def cluster_on_line(cluster: ClusterEvidence, numbers: Mapping[Place, int], origin: int) -> ClusterOnLine:
    """What is written of a round.

    Args:
        numbers: of all keys.
        origin: from which times count.
    """
    node = {name: number for number, name in enumerate(cluster.nodes)}

    def at(moment: int | None) -> int | None:
        return None if moment is None else moment - origin

    second = cluster.second
    return ClusterOnLine(
        fault=cluster.fault,
        lasts=cluster.lasts,
        nodes=list(cluster.nodes),
        struck=node.get(cluster.struck),
        strike=cluster.strike - origin if cluster.strike else 0,
        successor=None if cluster.successor is None else node[cluster.successor],
        failed_over=at(cluster.failed_over),
        second=None
        if second is None
        else SecondOnLine(
            node=node[second.node],
            moment=second.moment - origin,
            takeover=None
            if second.takeover is None
            else TakeoverOnLine(node=node[second.takeover.node], moment=second.takeover.moment - origin),
        ),
        healed=at(cluster.healed),
        connections=ConnectionsOnLine(
            client=[each.client for each in cluster.connections],
            moment=[each.moment - origin for each in cluster.connections],
            node=[node[each.node] for each in cluster.connections],
        ),
        reads=_reads_on_line(cluster.reads, origin),
        without=None if cluster.without is None else audit_on_line(cluster.without, numbers, origin),
        primary=node.get(cluster.primary),
        others=[
            NodeAuditOnLine(
                node=node[each.node],
                unlike=None if each.unlike is None else seen_of_keys(each.unlike, numbers),
                ended=each.ended - origin,
            )
            for each in cluster.others
        ],
    )


def succession_on_line(succession: Succession, origin: int) -> SuccessionOnLine:
    """What is written of it; `origin`: from which times count."""
    moments = (succession.missed, succession.elected, succession.before)
    missed, elected, before = (None if each is None else each - origin for each in moments)
    return SuccessionOnLine(promoted=succession.promoted, missed=missed, elected=elected, before=before)


def cluster_of(line: ClusterOnLine, succession: SuccessionOnLine | None, keys: KnownKeys) -> ClusterEvidence:
    """What was written of a round. Raises `EvidenceDamaged`."""
    if len(line.nodes) > _MOST_NODES or len(set(line.nodes)) != len(line.nodes):
        raise EvidenceDamaged(f"a round has {len(line.nodes)} nodes; allowed: {_MOST_NODES} or fewer, each named once")

    def node(number: int) -> str:
        if number >= len(line.nodes):
            raise EvidenceDamaged(f"a round names node {number}, and has {len(line.nodes)}")
        return line.nodes[number]

    opened = line.connections
    if len({len(opened.client), len(opened.moment), len(opened.node)}) != 1:
        raise EvidenceDamaged("columns of connections have different lengths")
    second = line.second
    return ClusterEvidence(
        fault=line.fault,
        lasts=line.lasts,
        nodes=tuple(line.nodes),
        struck="" if line.struck is None else node(line.struck),
        strike=line.strike,
        successor=None if line.successor is None else node(line.successor),
        failed_over=line.failed_over,
        succession=None
        if succession is None
        else Succession(succession.promoted, succession.missed, succession.elected, succession.before),
        second=None
        if second is None
        else Second(
            node(second.node),
            second.moment,
            None if second.takeover is None else Takeover(node(second.takeover.node), second.takeover.moment),
        ),
        healed=line.healed,
        connections=[
            Connection(client, moment, node(number))
            for client, moment, number in zip(opened.client, opened.moment, opened.node, strict=True)
        ],
        reads=_reads_of(line.reads),
        without=None if line.without is None else keys.audit(line.without),
        primary="" if line.primary is None else node(line.primary),
        others=[
            NodeAudit(node(each.node), None if each.unlike is None else keys.seen(each.unlike.keys, each.unlike.seen), each.ended)
            for each in line.others
        ],
    )


def _reads_on_line(reads: Sequence[Operation], origin: int) -> ReadsOnLine:
    return ReadsOnLine(
        client=[each.client for each in reads],
        action="".join(LETTERS[each.action] for each in reads),
        after=after_each_other([each.invoked for each in reads], origin),
        took=[UNKNOWN if each.completed is None else each.completed - each.invoked for each in reads],
        outcome="".join(LETTERS[each.outcome] for each in reads),
        value=[each.write_id if each.action == "put" else None if each.answer is None else str(each.answer) for each in reads],
    )


def _reads_of(line: ReadsOnLine) -> list[Operation]:
    columns = (line.client, line.action, line.after, line.took, line.outcome, line.value)
    if len({len(each) for each in columns}) != 1:
        raise EvidenceDamaged("columns of reads have different lengths")
    found: list[Operation] = []
    moment = 0
    for client, action, after, took, outcome, value in zip(*columns, strict=True):
        moment += after
        ending, asked = ENDINGS.get(outcome), ACTIONS.get(action)
        if asked not in _WATCH or ending is None or after < 0 or (took == UNKNOWN) != (ending == "unknown"):
            raise EvidenceDamaged(f"read {len(found)} of the watched key is none of a run")
        found.append(
            Operation(
                client=client,
                action=asked,
                collection=_WATCHED[0],
                key=_WATCHED[1],
                invoked=moment,
                completed=None if took == UNKNOWN else moment + took,
                outcome=ending,
                write_id=value or "" if asked == "put" else "",
                answer=None if asked == "put" else value,
            )
        )
    return found
