"""What happened in one round on a cluster, beside what `RoundEvidence` has of any round: who was who, and when who took writes.

All times are nanoseconds on the clock of the operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storeproof.evidence.audit import AuditEvidence
from storeproof.history import Operation, Place, Seen


@dataclass(frozen=True, slots=True)
class Takeover:
    """The first acknowledgement of a primary after a fault."""

    node: str
    moment: int


@dataclass(frozen=True, slots=True)
class Succession:
    """How another node became the primary before it acknowledged a write, as the nodes that were not struck told it."""

    promoted: bool
    """Whether storeproof promoted it; else the store did."""
    missed: int | None
    """When one of them took the struck one for gone; None: none told, or storeproof promoted, which detects nothing."""
    elected: int | None
    """When it first said that it takes writes, or storeproof had promoted it; None: it said so when it was first asked, and may have
    taken writes all along."""
    before: int | None
    """When it was last asked, and did not say so yet; or when storeproof began to promote it. None: as for `elected`."""


@dataclass(frozen=True, slots=True)
class Second:
    """The second strike of a round, at the node that took over."""

    node: str
    moment: int
    """When it had struck."""
    takeover: Takeover | None
    """By a third node, before this one came back; None: by none in time."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A client uses this connection until it opens its next one."""

    client: int
    moment: int
    """When it was open."""
    node: str


@dataclass(frozen=True, slots=True)
class NodeAudit:
    """How a node differed from the primary, of which all records had just been read."""

    node: str
    unlike: Mapping[Place, Seen] | None
    """What the node went on showing where the primary showed something else; None: the node did not let itself be read."""
    ended: int


@dataclass(slots=True)
class ClusterEvidence:
    """One round on a cluster; filled in as it goes on."""

    fault: str
    """The name of the one that struck; a guarantee has several."""
    lasts: bool
    """Whether it lasts a time of its own, in which it may keep all nodes from taking over; otherwise until one has."""
    nodes: tuple[str, ...] = ()
    struck: str = ""
    """The node that was the primary until the fault struck it."""
    strike: int = 0
    """When the fault began; `RoundEvidence.struck` is when it had struck."""
    successor: str | None = None
    """The node that acknowledged writes next; None if no other one did in time."""
    failed_over: int | None = None
    """When it acknowledged the first; None if no other one did in time, or if that is `struck` itself."""
    succession: Succession | None = None
    """Of `successor`; None: there is none, or the fault may have kept all nodes from taking over."""
    second: Second | None = None
    healed: int | None = None
    """When the fault began to end, under load; None: a node was lost, and came back after the load."""
    connections: Sequence[Connection] = ()
    """Of the clients that write, in the order in which each client opened its own."""
    reads: Sequence[Operation] = ()
    """All reads and writes of the one key that is watched, in order of invocation; none where the store has no single values."""
    without: AuditEvidence | None = None
    """What was read while the lost node was gone; None if none was lost."""
    primary: str = ""
    """The node of which all records were read in the end, as `RoundEvidence.audit` has them."""
    others: list[NodeAudit] = field(default_factory=list)
    """The other nodes, in their order."""
