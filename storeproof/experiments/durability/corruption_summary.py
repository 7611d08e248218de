"""What became of a store's rounds with damaged files, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import Ending
from storeproof.experiments.durability.file_damage import DamageKind
from storeproof.experiments.summary import Summary

_SHOWN: Final = 3
"""Findings that a sentence quotes."""


@dataclass(kw_only=True)
class CorruptionSummary(Summary):
    """What became of the rounds; each is counted once, under the first of these that is true of it."""

    kind: DamageKind
    rounds: int = 0
    served: list[str] = field(default_factory=list)
    """Rounds in which it served data that no client wrote: what, and after which damage."""
    would_not_start: int = 0
    refused: int = 0
    """Rounds in which it started, and refused reads or ended at one."""
    told: int = 0
    """Rounds in which records were missing, and its log said of the damage."""
    silent: list[str] = field(default_factory=list)
    """Rounds in which records were missing though later ones were there, and nothing was said."""
    back: int = 0
    """Rounds in which it went back to an earlier moment, and nothing was said."""
    whole: int = 0
    """Rounds in which all was there: the damage met nothing that it needs."""
    files: set[str] = field(default_factory=set)
    nothing: str = ""
    """Why there was nothing to damage."""
    left_out: list[str] = field(default_factory=list)
    """States of the directory that could not be tried, and why."""

    @property
    def noticed(self) -> int:
        """Rounds in which it refused, or said so."""
        return self.would_not_start + self.refused + self.told

    @property
    def ending(self) -> Ending:
        """Rounds that met nothing, or after which the store went back in silence, show nothing."""
        if self.served or self.silent:
            return Ending.BROKEN_PROMISE
        return Ending.RIGHT if self.noticed else Ending.NOTHING_SHOWN

    @property
    def findings(self) -> list[str]:
        """What refutes the claim, round by round."""
        return [*self.served, *self.silent]

    def parts(self) -> Iterator[str]:
        """What was damaged, and how often each thing came of it."""
        if not self.rounds:
            yield self.nothing
            yield from self.left_out
            return
        done = "bytes were changed" if self.kind == "flip" else "a file was cut short"
        yield f"{self.rounds} times {done} in {', '.join(sorted(self.files))}"
        counts = (
            (len(self.served), "it served data that no client wrote"),
            (self.would_not_start, "it refused to start"),
            (self.refused, "it refused to read"),
            (self.told, "records were missing, as its log said"),
            (len(self.silent), "records were missing, and nothing said so"),
            (self.back, "it went back to an earlier moment"),
            (self.whole, "all was there"),
        )
        yield ", ".join(f"{number} times {what}" for number, what in counts if number)
        yield from (*self.served[:_SHOWN], *self.silent[:_SHOWN], *self.left_out)
