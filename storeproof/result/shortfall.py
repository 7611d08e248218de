"""What a store misses of a profile, as the lines of a verdict say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storeproof.outcome import REFUTED, Outcome
from storeproof.result.model import ProfileVerdict

_OUTCOMES: Final = frozenset(map(str, Outcome))
_BROKEN: Final = (Outcome.FAIL, Outcome.KNOWN_FAIL)
_NOT_TRIED: Final = ("no case was run", "not verified in this run", "not measured")
"""How reasons begin where there is no outcome, since nothing was tried."""


@dataclass(frozen=True)
class Shortfall:
    """One line of what is missing."""

    thing: str
    """A capability's name, `model NAME` or `guarantee NAME`."""
    outcome: str
    """Empty where there is none: what is not claimed was not tried."""
    reason: str

    @property
    def broken(self) -> bool:
        """Whether it was answered wrongly, or claimed and not kept."""
        return self.outcome in _BROKEN

    @property
    def open(self) -> bool:
        """Whether the run says nothing of it, for or against."""
        if self.outcome:
            return self.outcome not in REFUTED
        return self.reason.startswith(_NOT_TRIED)


def shortfalls_of(verdict: ProfileVerdict) -> tuple[Shortfall, ...]:
    """One for each line of what is missing, in their order."""
    return tuple(map(_shortfall, verdict.missing))


def _shortfall(line: str) -> Shortfall:
    """Of `capability NAME/CASE: OUTCOME: WHY`, `model NAME: OPERATION: OUTCOME`, `guarantee NAME: [RUNG: ][OUTCOME: ]WHY`."""
    what, *rest = line.split(": ")
    thing = what.partition("/")[0].removeprefix("capability ")
    at = next((position for position, part in enumerate(rest[:2]) if part in _OUTCOMES), None)
    if at is None:
        return Shortfall(thing, "", ": ".join(rest))
    return Shortfall(thing, rest[at], ": ".join((*rest[:at], *rest[at + 1 :])))
