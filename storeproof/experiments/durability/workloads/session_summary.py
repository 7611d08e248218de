"""What clients saw of their own writes and earlier reads, in all rounds of one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from storeproof.blame import CaseEnding
from storeproof.check import SessionReads, judge_sessions
from storeproof.check.sessions import Regress
from storeproof.evidence import RoundEvidence
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.durability.workloads.session_clients import Way
from storeproof.experiments.rounds_summary import WorkloadSummary, in_rounds
from storeproof.history import Operation
from storeproof.spec import Target
from storeproof.spec.guarantee import NETWORKED
from storeproof.spec.known_failure import CaseFinding

_LISTED: Final = 4
"""The number of findings that are kept of each way in a round, and named in a message."""
_WAYS: Final[tuple[Way, ...]] = ("following", "following", "spread", "spread", "tied", "tied")
"""Of each client of a cluster, by its number."""
_ALONE: Final[Way] = "only"
USERS: Final = len(_WAYS)
_TORN: Final = "(torn)"
"""In place of a write id, as `SessionClient` notes it."""


@dataclass(frozen=True)
class WrongReads:
    """The first reads of each way in a round that are wrong, in words."""

    wrong: Sequence[Sequence[str]]
    """By way, those that forget and those that go back."""
    torn: Sequence[str]
    """After the fault, which may have torn them: of these, what was written is lost."""
    unexplained: Sequence[str]


@dataclass(kw_only=True)
class SessionSummary(WorkloadSummary):
    """Sums over rounds."""

    reads: Counter[Way] = field(default_factory=Counter)
    forgotten: Counter[Way] = field(default_factory=Counter)
    """Reads that did not show the client's own acknowledged write."""
    back: Counter[Way] = field(default_factory=Counter)
    """Reads that showed less than an earlier one of the same client."""
    wrong: list[CaseFinding] = field(default_factory=list)
    """The first of each round."""
    durable_reads: bool = True
    """Whether no client may read a write that the fault undoes. Where it may, such reads are counted alone."""
    undone_reads: int = 0
    """Reads that showed less than an earlier one, since that showed a write which was not acknowledged, and which the fault undid."""
    unexplained: list[str] = field(default_factory=list)
    """Reads of what was never written, or refused."""

    def held_to(self, judged: Mapping[Way, SessionReads]) -> Mapping[Way, SessionReads]:
        """The reads that may break a promise: where reads need not be durable, those of what a fault undid are counted and left out."""
        if self.durable_reads:
            return judged
        kept = {way: reads.of_acknowledged() for way, reads in judged.items()}
        self.undone_reads += sum(len(judged[way].back) - len(reads.back) for way, reads in kept.items())
        return kept

    @classmethod
    def of(cls, target: Target, guarantee: str) -> Self:
        """A read is of what several nodes have, where there are several."""
        return cls(durable_reads=guarantee in NETWORKED or target.durable_reads)

    def excused(self, target: Target) -> bool:
        """Stale reads may be declared as possible."""
        return not target.session_guarantees and bool(self.wrong)

    def judge_round(self, struck: StruckRound) -> int:
        """By how its clients read; returns how many different keys they had written before the strike."""
        operations, ways = struck.operations, ways_of(struck.seen)
        of_way = dict(enumerate(ways))
        judged = self.held_to(
            {
                way: judge_sessions([each for each in operations if each.action == "put" or of_way.get(each.client) == way])
                for way in dict.fromkeys(ways)
            }
        )
        found = _found_in(judged, struck)
        asked = [each for each in operations if each.action == "get"]
        first = [alike[0] for alike in found.wrong if alike]
        wrong = bool(found.torn) or any(each.forgotten or each.back for each in judged.values())
        where = self.count_round(struck.fault, wrong=wrong, record=struck.record(asked, _Right(judged.values()), first))
        for way, reads in judged.items():
            self.reads[way] += reads.reads
            self.forgotten[way] += len(reads.forgotten)
            self.back[way] += len(reads.back)
        for kind, alike in (*(("went_back", each) for each in found.wrong), ("torn", found.torn)):
            self.wrong += [CaseFinding(each, frozenset({kind})) for each in in_rounds(where, alike)]
        self.unexplained += in_rounds(where, found.unexplained)
        strike = struck.moments.strike
        return len({each.place for each in operations if each.action == "put" and each.completed is not None and each.completed < strike})

    @property
    def ending(self) -> CaseEnding:
        """A read that forgets or goes back breaks a promise where one is made."""
        if self.unexplained:
            return CaseEnding.MADE_UP
        if self.wrong:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return self.right if self.reads.total() else CaseEnding.NOTHING_AT_RISK

    def parts(self) -> Iterator[str]:
        """What was read, by how."""
        yield f"{self.rounds} faults"
        for way, reads in self.reads.items():
            yield f"{way}: of {reads} reads {self.forgotten[way]} forgot an own acknowledged write, {self.back[way]} went back in time"
        if self.wrong:
            yield f"rounds with such reads: {self.by_fault(self.wrong_rounds)}"
        elif self.reads.total() and not self.unexplained:
            yield "each client saw its own writes, and never less than before"
        if self.undone_reads:
            yield (
                f"{self.undone_reads} reads went back from a write that was not acknowledged, and that the fault undid: "
                "the store does not claim durable reads"
            )
        if self.unexplained:
            yield "reads of what no acknowledged write explains"
        yield from self.idle_rounds()
        yield from self.spoiled_rounds()

    def lines(self) -> list[str]:
        """The first findings."""
        return [*self.unexplained[:_LISTED], *map(str, self.wrong[:_LISTED]), *super().lines()]

    @property
    def findings(self) -> list[CaseFinding]:
        """The reads."""
        return [*self.unexcused, *self.wrong]

    @property
    def unexcused(self) -> list[CaseFinding]:
        """Of what was never written."""
        return [CaseFinding(each, frozenset({"invented"})) for each in self.unexplained]


def ways_of(round_: RoundEvidence) -> tuple[Way, ...]:
    """Of each client, by its number; one with a higher number only shows that there is another primary."""
    return (_ALONE,) * USERS if round_.cluster is None else _WAYS


def _found_in(judged: Mapping[Way, SessionReads], struck: StruckRound) -> WrongReads:
    """The first of each way."""
    moments = struck.moments

    def where(asked: Operation) -> str:
        """Of an answer."""
        moment = asked.invoked if asked.completed is None else asked.completed
        return f"by {struck.node_of(asked)} at {moments.second_of(moment):+.3f} s"

    def told(way: Way, each: Regress, how: str) -> str:
        return f"{way} {each}, which it had {how}; that was answered {where(each.known)}, and this {where(each.read)}"

    wrong = [
        [told(way, each, how) for each in found[:_LISTED]]
        for way, reads in judged.items()
        for how, found in (("written", reads.forgotten), ("read", reads.back))
    ]
    told_of = {each: f"{way} client {each.client}: {each.with_answer()}" for way, reads in judged.items() for each in reads.unexplained}
    torn = [each for each in told_of if each.answer == _TORN and each.invoked > moments.struck]
    made_up = [each for each in told_of if each not in torn]
    return WrongReads(wrong, [told_of[each] for each in torn[:_LISTED]], [told_of[each] for each in made_up[:_LISTED]])


class _Right:
    """Which reads show less than their client knew."""

    def __init__(self, judged: Iterable[SessionReads]) -> None:
        self._wrong = {each.read for reads in judged for each in (*reads.forgotten, *reads.back)}

    def lost(self, read: Operation, /) -> bool:
        """Whether it does."""
        return read in self._wrong

    def found(self, read: Operation, /) -> bool:
        """Whether it does not."""
        return read not in self._wrong
