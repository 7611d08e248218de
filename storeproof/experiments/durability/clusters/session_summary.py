"""What clients saw of their own writes and earlier reads, in all rounds of one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import Ending
from storeproof.check import SessionReads
from storeproof.experiments.durability.clusters.session_clients import Way
from storeproof.experiments.summary import Summary

_LISTED: Final = 4
"""The number of findings that are kept of each way in a round, and named in a message."""


@dataclass(kw_only=True)
class SessionSummary(Summary):
    """Sums over rounds."""

    reads: Counter[Way] = field(default_factory=Counter)
    forgotten: Counter[Way] = field(default_factory=Counter)
    """Reads that did not show the client's own acknowledged write."""
    back: Counter[Way] = field(default_factory=Counter)
    """Reads that showed less than an earlier one of the same client."""
    strikes: Counter[str] = field(default_factory=Counter)
    """The judged rounds of each fault, by its name."""
    wrong_rounds: Counter[str] = field(default_factory=Counter)
    """Those with such a read."""
    wrong: list[str] = field(default_factory=list)
    """The first of each round."""
    unexplained: list[str] = field(default_factory=list)
    """Reads of what was never written, or refused."""

    @property
    def rounds(self) -> int:
        """The judged ones."""
        return self.strikes.total()

    def judge_round(self, fault: str, judged: Mapping[Way, SessionReads]) -> None:
        """Count a round, by how its clients read."""
        self.strikes[fault] += 1
        self.wrong_rounds[fault] += any(found.forgotten or found.back for found in judged.values())
        where = f"round {self.rounds} ({fault})"
        for way, found in judged.items():
            self.reads[way] += found.reads
            self.forgotten[way] += len(found.forgotten)
            self.back[way] += len(found.back)
            self.wrong += [f"{where}: {way} {each}, which it had written" for each in found.forgotten[:_LISTED]]
            self.wrong += [f"{where}: {way} {each}, which it had read" for each in found.back[:_LISTED]]
            self.unexplained += [f"{where}: {way} client {each.client}: {each.with_answer()}" for each in found.unexplained[:_LISTED]]

    @property
    def ending(self) -> Ending:
        """A read that forgets or goes back breaks a promise where one is made."""
        if self.unexplained:
            return Ending.MADE_UP
        if self.wrong:
            return Ending.BROKEN_PROMISE
        if self.given_up:
            return Ending.SPOILED
        return Ending.RIGHT if self.reads.total() else Ending.NOTHING_AT_RISK

    def parts(self) -> Iterator[str]:
        """What was read, by how."""
        yield f"{self.rounds} faults"
        for way, reads in self.reads.items():
            yield f"{way}: of {reads} reads {self.forgotten[way]} forgot an own acknowledged write, {self.back[way]} went back in time"
        if self.wrong:
            counts = (f"{name} {self.wrong_rounds[name]} of {struck}" for name, struck in self.strikes.items())
            yield f"rounds with such reads: {', '.join(counts)}"
        elif self.reads.total() and not self.unexplained:
            yield "each client saw its own writes, and never less than before"
        if self.unexplained:
            yield "reads of what no acknowledged write explains"
        yield from self.spoiled_rounds()

    def lines(self) -> list[str]:
        """The first findings."""
        return [*self.unexplained[:_LISTED], *self.wrong[:_LISTED], *super().lines()]

    @property
    def findings(self) -> list[str]:
        """The reads."""
        return self.unexplained + self.wrong

    @property
    def unexcused(self) -> list[str]:
        """Of what was never written."""
        return self.unexplained
