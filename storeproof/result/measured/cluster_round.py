"""One round on a cluster: who took writes before, during and after the fault, and which of them were lost."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

from pydantic import Field

from storeproof.result.part import ResultPart

BIN_SECONDS: Final = 0.2
"""The width of the bins of a `NodeCourse`."""

Phase = Literal["before", "during", "after"]
"""Before the fault began, until it ended, and later. A fault that loses a node ends only after the load: then there is no `after`."""


class NodeSpan(ResultPart):
    """What clients that wrote at one node were answered in one phase. An acknowledgement counts when it arrived, all else when it was
    sent."""

    node: str
    phase: Phase
    acknowledged: int
    """Writes: puts, deletes and increments."""
    found: int
    """Of these, those that were read in the end: the record that a put wrote, or a counter that is right."""
    lost: int
    """Of these, those that are certainly lost: what was read in the end excludes them. The others left no trace that could be found or
    missed: deletes, puts that a later write replaced, and increments of a counter that is wrong."""
    unknown: int
    refused: int
    last_second: float | None
    """The last acknowledgement; None if there was none."""


class NodeCourse(ResultPart):
    """The acknowledgements of one node over time, in bins of a fifth of a second, of which the first and the last are not empty."""

    node: str
    first: int
    """The number of the first bin: 0 begins at second 0, and -1 ends there."""
    acknowledged: list[int]
    found: list[int]
    """In the same bins, as `lost`."""
    lost: list[int]


class SetAside(ResultPart):
    """Writes that a node undid when it rejoined, and keeps in files."""

    node: str
    files: int
    bytes: int
    records: int


class SecondStrike(ResultPart):
    """What struck the node that took over from the first, when the first was back."""

    node: str
    second: float
    """When it had struck."""
    successor: str | None
    """The node that took writes next; None if none did before this one was started again."""
    failover_second: float | None
    """When that acknowledged a write first."""


class FailoverParts(ResultPart):
    """How the successor became the primary before it acknowledged a write, as the nodes that were not struck told it while they were asked
    again and again. Seconds as in the round."""

    promoted_by: Literal["store", "storeproof"]
    detected_second: float | None
    """When one of them took the struck primary for gone; None: they did not tell, or storeproof promoted, which detects nothing."""
    elected_second: float | None
    """When the successor said that it takes writes, or storeproof had promoted it; None: it said so when it was first asked."""
    before_second: float | None
    """When it was asked last and did not say so yet, or storeproof began to promote it: it was elected between these two. None: as for
    `elected_second`."""


class ClusterRoundRecord(ResultPart):
    """One round after which all records were read back. Seconds are relative to the moment at which the fault had struck."""

    fault: str
    nodes: list[str]
    struck: str
    """The node that the fault struck: the primary until then."""
    successor: str | None
    """The node that took writes next; None if no other did in time."""
    primary: str
    """The primary in the end, of which all records were read."""
    began_second: float
    """When the load began; negative."""
    strike_second: float
    """When the fault began, if it takes time: 0 or negative."""
    failover_second: float | None
    """When the successor acknowledged a write first."""
    healed_second: float | None
    """When the fault ended; None if the node was lost, and came back only after the load."""
    ended_second: float
    """When the load had ended."""
    spans: list[NodeSpan]
    """Without those in which nothing was asked."""
    course: list[NodeCourse] = Field(default_factory=list)
    """Of each node that acknowledged any. Only one round of each fault has it: the one with most losses, else the first."""
    set_aside: list[SetAside] = Field(default_factory=list)
    wrong: list[str] = Field(default_factory=list)
    """Of transfers and reads the first that are lost, halves, or show less than their clients knew; in words."""
    second_strike: SecondStrike | None = None
    """Of a fault that also strikes the node which takes over."""
    failover: FailoverParts | None = None
    """None without a successor, of faults that strike all nodes alike, and in results before 2026-12-01."""

    @property
    def lost(self) -> int:
        return sum(each.lost for each in self.spans)

    @property
    def acknowledged(self) -> int:
        return sum(each.acknowledged for each in self.spans)


Kind = Literal["writes", "transfers", "reads"]
"""What the spans of a round count. A transfer is found if it happened, and lost if it did not. A read is found if it shows no less than its
client knew, and lost if it does."""


class CaseRounds(ResultPart):
    """The rounds of a case that strikes a cluster as its guarantees do, and counts something else than writes."""

    case: str
    kind: Kind
    rounds: list[ClusterRoundRecord]
    """One of each fault: the first of those with most losses."""
    struck: dict[str, int]
    """In how many rounds each fault struck."""
    lossy: dict[str, int]
    """In how many of these any were lost."""


def case_rounds(case: str, kind: Kind, rounds: list[ClusterRoundRecord]) -> CaseRounds:
    """Of all rounds what a result keeps."""
    struck, lossy = Counter(each.fault for each in rounds), Counter(each.fault for each in rounds if each.lost)
    return CaseRounds(case=case, kind=kind, rounds=shown_rounds(rounds), struck=dict(struck), lossy=dict(lossy))


def with_one_course(rounds: list[ClusterRoundRecord]) -> list[ClusterRoundRecord]:
    """The rounds as a result keeps them: of each fault only the shown one with its course."""
    shown = set(map(id, shown_rounds(rounds)))
    return [each if id(each) in shown else each.model_copy(update={"course": []}) for each in rounds]


def shown_rounds(rounds: list[ClusterRoundRecord]) -> list[ClusterRoundRecord]:
    """One round of each fault: the first of those with most losses."""
    worst: dict[str, ClusterRoundRecord] = {}
    for each in rounds:
        known = worst.get(each.fault)
        if known is None or each.lost > known.lost:
            worst[each.fault] = each
    return list(worst.values())
