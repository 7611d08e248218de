"""What the histories of one case show when they are judged again, and whether a verdict is no better than that."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from storeproof.evidence import Broken
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.rounds_summary import RoundsSummary
from storeproof.experiments.summary import Summary
from storeproof.outcome import SHOWN, Outcome, worst
from storeproof.result.model import RunInfo
from storeproof.spec import Target


@dataclass
class JudgedRounds:
    """The rounds of one case, on all of its stores."""

    name: str
    """Of the case, after `durability.`."""
    summary: RoundsSummary = field(default_factory=DurabilitySummary)
    operations: int = 0
    read_all: bool = False
    """Whether the last audit read the keys of all rounds."""
    broken: Broken | None = None
    """The store was unusable after the last round, and the workload does not count that."""
    cuts_off: bool = False
    """Whether the fault cuts the power."""
    spoiled: list[bool] = field(default_factory=list)
    """Of each attempt whether it ended without saying anything about the store: by a spoiled round, or before the first one."""

    @property
    def cut_short(self) -> bool:
        """Whether the last round ended by what is none of the findings."""
        return not self.spoiled or self.spoiled[-1] or self.broken is not None


def outcome_by_histories(summary: Summary, case: str, run: RunInfo, target: Target, *, claimed: bool) -> Outcome:
    """As the case comes to it, with the known failures of the store's file."""
    outcome = summary.outcome(claimed=claimed)
    known = target.known_failure(case, datetime.fromisoformat(run.started).date())
    if outcome is not Outcome.FAIL or known is None:
        return outcome
    return Outcome.FAIL if known.worse(summary.findings_of(claimed=claimed)) else Outcome.KNOWN_FAIL


def no_better(says: Outcome, shows: Outcome) -> bool:
    """Whether a verdict is no better than what shows; what ended by an error may be worse."""
    return says is shows or {says, shows} <= {*SHOWN} or worst([says, shows]) is says
