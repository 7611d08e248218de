"""Sums over the rounds of one interruption of a composite store's servers, and the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import CaseEnding
from storeproof.check import Anomaly, Finding, Staleness
from storeproof.experiments.summary import Summary, count_anomalies
from storeproof.history import Operation
from storeproof.units import plural

_SHOWN: Final = 3
"""The number of findings of a round that a message names, as examples."""


@dataclass(frozen=True)
class Waited:
    """What waited for the home in a round; of a policy that acknowledges no write before the home has it, nothing."""

    writes: int
    """When the interruption ended."""
    seconds: float
    """From then until the home had them all, with those that were added meanwhile."""


@dataclass(kw_only=True)
class InterruptionSummary(Summary):
    """Sums over rounds."""

    what: str
    """The interruption, as a clause: `the front was paused`."""
    stale_possible: bool
    """Whether the variant says that a read may be stale: then one is counted, and no failure."""
    rounds: int = 0
    acknowledged: int = 0
    """Writes."""
    unknown: int = 0
    """Requests that clients gave up."""
    reads: int = 0
    stale: int = 0
    ages_ms: list[float] = field(default_factory=list)
    """Of the stale reads."""
    anomalies: Counter[Anomaly] = field(default_factory=Counter)
    """Of what the home has."""
    invented: int = 0
    """Reads that returned the record of no write."""
    costs: list[str] = field(default_factory=list)
    """For each round with a failure: its number, what it was, and the first examples."""
    waited: list[Waited] = field(default_factory=list)
    """Of the rounds in which writes waited."""
    idle: list[str] = field(default_factory=list)
    """Rounds in which no client gave up: they show nothing."""

    def add(self, given_up: int, operations: Sequence[Operation], reads: Staleness, home: Sequence[Finding], waited: Waited) -> None:
        """Add a round.

        Args:
            given_up: requests that clients gave up.
            home: of every look at what the home has.
        """
        self.rounds += 1
        self.unknown += given_up
        self.acknowledged += sum(each.outcome == "ok" and each.action != "get" for each in operations)
        self.reads += reads.reads
        self.stale += len(reads.stale)
        self.ages_ms += reads.ages_ms
        self.invented += len(reads.unexplained)
        self.waited += [waited] if waited.writes else []
        wrong = [each for each in home if each.anomaly is not Anomaly.OK]
        harmed = Counter(each.anomaly for each in wrong)
        self.anomalies.update(harmed)
        if not given_up:
            self.idle.append(f"no client gave up in round {self.rounds}")
        failed = [f"{count_anomalies(harmed)} in the home", *map(str, wrong[:_SHOWN])] if wrong else []
        if reads.stale and not self.stale_possible:
            failed += [f"{len(reads.stale)} of {reads.reads} reads were stale", *map(str, reads.stale[:_SHOWN])]
        if reads.unexplained:
            failed.append(f"a read returned the record of no write: {reads.unexplained[0].with_answer()}")
        if failed:
            self.costs.append(f"round {self.rounds}: {'; '.join(failed)}")

    @property
    def findings(self) -> list[str]:
        """One per round with a failure."""
        return self.costs

    @property
    def ending(self) -> CaseEnding:
        """How the case ends."""
        if self.invented or self.anomalies[Anomaly.INVENTED]:
            return CaseEnding.MADE_UP
        if self.costs:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return CaseEnding.NOTHING_AT_RISK if self.idle else CaseEnding.RIGHT

    def parts(self) -> Iterator[str]:
        """The interruptions, what was at risk, and what was found."""
        yield f"{plural(self.rounds, 'round')} in which {self.what}, and clients gave up {plural(self.unknown, 'request')}"
        yield f"{self.acknowledged} writes acknowledged"
        yield from self.costs
        if not self.anomalies:
            yield "none is missing in the home"
        if self.waited:
            longest = max(each.seconds for each in self.waited)
            writes = plural(max(each.writes for each in self.waited), "acknowledged write")
            yield f"up to {writes} waited for the home, which had all {longest:.1f} s after the end at the latest"
        yield self._staleness()
        yield from self.idle
        yield from self.spoiled_rounds()

    def _staleness(self) -> str:
        if not self.stale:
            return f"none of {self.reads:,} reads was stale"
        declared = ", which is declared as possible" if self.stale_possible else ""
        return f"{self.stale:,} of {self.reads:,} reads were stale, by {max(self.ages_ms):.0f} ms at most{declared}"
