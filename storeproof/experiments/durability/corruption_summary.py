"""The results of a store's rounds with damaged files, and the outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import CaseEnding
from storeproof.experiments.durability.file_damage import DamageKind
from storeproof.experiments.summary import Summary
from storeproof.result.measured.damage import DamageCounts

_SHOWN: Final = 3
"""Findings that a sentence quotes."""


@dataclass(kw_only=True)
class CorruptionSummary(Summary):
    """The results of the rounds; each round is counted once, in the first of these fields that applies."""

    kind: DamageKind
    rounds: int = 0
    served: list[str] = field(default_factory=list)
    """Rounds in which it served data that no client wrote: which data, and after which damage."""
    would_not_start: int = 0
    refused: int = 0
    """Rounds in which it started, and refused a read or ended during one."""
    told: int = 0
    """Rounds in which records were missing, and its log reported the damage."""
    silent: list[str] = field(default_factory=list)
    """Rounds in which records were missing although later ones were present, and nothing was reported."""
    back: int = 0
    """Rounds in which it went back to an earlier state, and nothing was reported."""
    whole: int = 0
    """Rounds in which all data was intact: the damage hit nothing that the store reads."""
    files: set[str] = field(default_factory=set)
    nothing: str = ""
    """Why there was nothing to damage."""
    left_out: list[str] = field(default_factory=list)
    """States of the directory that could not be tested, and why."""

    @property
    def noticed(self) -> int:
        """Rounds in which it refused or reported the damage."""
        return self.would_not_start + self.refused + self.told

    @property
    def ending(self) -> CaseEnding:
        """Rounds without effect, or in which the store silently went back to an earlier state, are no evidence."""
        if self.served or self.silent:
            return CaseEnding.BROKEN_PROMISE
        return CaseEnding.RIGHT if self.noticed else CaseEnding.NOTHING_SHOWN

    @property
    def counts(self) -> DamageCounts | None:
        """As the result has them; None without a round."""
        return DamageCounts(rounds=self.rounds, made_up=len(self.served), silent=len(self.silent)) if self.rounds else None

    @property
    def findings(self) -> list[str]:
        """The findings that refute the claim, round by round."""
        return [*self.served, *self.silent]

    def parts(self) -> Iterator[str]:
        """What was damaged, and the number of rounds with each result."""
        if not self.rounds:
            yield self.nothing
            yield from self.left_out
            return
        done = "bytes changed in" if self.kind == "flip" else "one file truncated, of"
        yield f"{self.rounds} rounds, {done} {', '.join(sorted(self.files))}"
        counts = (
            (len(self.served), "it served data that no client wrote"),
            (self.would_not_start, "it refused to start"),
            (self.refused, "it refused reads"),
            (self.told, "records were missing, as its log reported"),
            (len(self.silent), "records were missing, and nothing was reported"),
            (self.back, "it went back to an earlier state"),
            (self.whole, "all data was intact"),
        )
        yield ", ".join(f"{number} times {what}" for number, what in counts if number)
        yield from (*self.served[:_SHOWN], *self.silent[:_SHOWN], *self.left_out)
