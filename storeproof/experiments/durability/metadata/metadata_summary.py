"""What became of metadata: the outcome of a case, and its findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import CaseEnding
from storeproof.experiments.summary import Summary
from storeproof.spec.known_failure import CaseFinding

_SHOWN: Final = 5
"""The findings that the sentence has."""


@dataclass(kw_only=True)
class MetadataSummary(Summary):
    """One fault."""

    fault: str
    kept: list[str] = field(default_factory=list)
    """The names of what is as it was."""
    wrong: list[CaseFinding] = field(default_factory=list)
    """What is not."""
    told: list[str] = field(default_factory=list)
    rewrite: str = ""
    """The command by which the store rewrote its files in between; empty where it has none."""

    @property
    def ending(self) -> CaseEnding:
        """How the case ends, if nothing else ended it."""
        if self.wrong:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return CaseEnding.RIGHT if self.kept else CaseEnding.NOTHING_SHOWN

    @property
    def findings(self) -> list[CaseFinding]:
        """What is not as it was."""
        return self.wrong

    def parts(self) -> Iterator[str]:
        """What was kept, and what was not."""
        if self.kept:
            rewritten = f" and {self.rewrite} before it" if self.rewrite else ""
            yield f"kept through one {self.fault}{rewritten}: {', '.join(self.kept)}"
        if self.wrong:
            more = f" | and {len(self.wrong) - _SHOWN} more" if len(self.wrong) > _SHOWN else ""
            yield f"not kept through one {self.fault}: {' | '.join(map(str, self.wrong[:_SHOWN]))}{more}"
        yield from self.told
        yield from self.spoiled_rounds()
