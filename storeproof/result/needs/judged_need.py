"""What the evidence says of one need."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from storeproof.outcome import Outcome
from storeproof.result.measurement import Measurement
from storeproof.result.model import OutcomeRecord
from storeproof.result.needs.bounds import first_line
from storeproof.result.needs.joined_results import JoinedPart
from storeproof.result.needs.need import Need
from storeproof.run_command import RunCommand
from storeproof.spec import Spec


class NeedVerdict(StrEnum):
    """Whether a need is met; ordered from the one that counts most in a summary."""

    NOT_MET = "not met"
    NOT_SHOWN = "not shown"
    MET = "met"


@dataclass(frozen=True)
class Seen:
    source: JoinedPart
    what: str
    """A case id, or the name of a measurement."""
    detail: str
    """What was seen, in one line."""
    measured: Measurement | None = None
    """The number, where it is one."""


@dataclass(frozen=True)
class JudgedNeed:
    need: Need
    target: str
    """`store:variant`."""
    verdict: NeedVerdict
    reason: str
    """By how much it is met or missed, or why nothing can be said."""
    seen: tuple[Seen, ...] = ()
    command: str = ""
    """What would show it, where it is not shown; empty where no command can."""
    headroom: float | None = None
    """For a rate: what was reached, as a multiple of what is needed."""
    at_least: bool = False
    """Whether the headroom may be larger: the load generator was the limit."""
    alternative: int = 0
    """For a capability with alternatives: the position of the one that was judged; those after the first are looser."""
    way: str = ""
    """For a capability with alternatives that is met: the one by which it is, in words."""


def seen_in_words(case: OutcomeRecord) -> str:
    """What was seen of a case, in one line."""
    return f"{case.outcome}: {first_line(case.detail)}"


def missed_in_words(case: OutcomeRecord) -> str:
    """Why a case that did not pass rules a store out; that a clear refusal is one needs no word."""
    why = first_line(case.why)
    return why if case.outcome is Outcome.UNSUPPORTED else f"{case.outcome}: {why}"


def to_show(target: str, chosen: str, spec: Spec) -> str:
    """The command that tries what no result shows of a store. `chosen`: what `-k` selects."""
    return str(RunCommand(store=[target], scale="standard", edition=spec.edition.version, keyword=chosen))
