"""The sums over the states of recordings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from storeproof.evidence import CrashEvidence
from storeproof.experiments.crash_states.left_files import files_left
from storeproof.experiments.crash_states.tried_state import TriedState
from storeproof.experiments.trial_summary import KEPT, TrialSummary
from storeproof.result.measured.crash_states import CrashStateCounts, FailedState, TierCounts
from storeproof.spec.guarantee import CrashModel

if TYPE_CHECKING:
    from storeproof.native import DiskRecording

_TIERS: Final = ("what was asked for", "a commit of the journal", "one page more or less", "zeros at an end, torn pages")
"""What a state of each tier needs besides, in words."""


@dataclass(kw_only=True)
class CrashSummary(TrialSummary[TriedState, int]):
    """What became of the states, by tier."""

    model: CrashModel
    recordings: int = 0
    """Those that were tried and joined."""
    changes: int = 0
    """Changes of the disk that were recorded."""
    states: Counter[int] = field(default_factory=Counter)
    """The number of different states by tier."""
    unlisted: int = 0
    """How many more there are than can be listed."""
    mapped: int = 0
    """Pages that it wrote through memory mappings in files that it did not sync."""

    @property
    def damaging(self) -> bool:
        """What reached the kernel is there, where the machine did not end."""
        return self.model != "kernel"

    def add(self, tried: TriedState) -> None:
        """Count a state."""
        self.tried[tried.state.tier] += 1
        super().add(tried)

    def join(self, recording: CrashSummary) -> None:
        """Add the states of the next recording. Their names then tell it from earlier ones."""
        for each in recording.failed:
            each.state = replace(each.state, name=name_of(each.state.name, self.recordings))
        self.recordings += 1
        self.changes += recording.changes
        self.states += recording.states
        self.unlisted += recording.unlisted
        self.mapped += recording.mapped
        self.tried += recording.tried
        self.failed += recording.failed
        self.log = self.log or recording.log

    def where(self, tried: TriedState) -> str:
        """The state, and after which crash."""
        return f"{'after' if tried.depth == 1 else 'after another crash after'} {tried.state.name}"

    def parts(self) -> Iterator[str]:
        """What was recorded, what was tried, and what failed."""
        recordings = f"{self.recordings} recordings" if self.recordings > 1 else "this recording"
        total = self.states.total() + self.unlisted
        yield f"{self.tried.total()} of {total} states that a crash may leave of {recordings} ({self.model}) were tried"
        if self.tried and not self.failed:
            yield "each has every acknowledged write, takes writes, and keeps them over another crash"
        yield from self.failures()
        for tier, words in enumerate(_TIERS):
            if left := self.states[tier] - self.tried[tier]:
                yield f"not tried: {left} of {self.states[tier]} states that need {words}"
        if self.unlisted:
            yield f"not tried: {self.unlisted} states beyond those that are listed"
        if self.mapped:
            yield f"it wrote {self.mapped} pages through memory mappings in files that it did not sync, as the kernel wrote them back"
        yield f"recorded: {max(self.recordings, 1) * self.requests} requests, {self.changes} changes of the disk"
        yield from self.spoiled_rounds()

    def look_at_failed(self, recording: DiskRecording) -> None:
        """Find out what was on the disk in those that are shown. `recording`: lists the states as the disk did."""
        for each in self.failed[:KEPT]:
            each.files = files_left(recording, each.state.index)

    def evidence(self, clients: int, collections: dict[str, str]) -> CrashEvidence:
        """Of the recording, without its content.

        Args:
            clients: how many sent its requests.
            collections: by model the names that the store has for them.
        """
        tiers = [self.states[tier] for tier in range(len(_TIERS))]
        return CrashEvidence(self.model, self.requests, self.changes, clients, collections, tiers)

    def counts(self) -> CrashStateCounts:
        """For the result file."""
        return CrashStateCounts(
            model=self.model,
            requests=self.requests,
            changes=self.changes,
            tiers=[TierCounts(states=self.states[tier], tried=self.tried[tier]) for tier in range(len(_TIERS))],
            losing=self.losing,
            unusable=self.unusable,
            kinds=self.kinds,
            failed=[
                FailedState(state=each.state.name, depth=each.depth, finding=str(self.finding(each)), files=list(each.files))
                for each in self.failed[:KEPT]
            ],
        )


def name_of(state: str, recording: int) -> str:
    """The name of a state among those of all recordings of a case. `recording`: its number, from 0."""
    return f"{recording + 1}.{state}" if recording else state


def number_of(state: str) -> int:
    """The number of the recording in such a name."""
    later = re.match(r"([1-9][0-9]{0,3})\.", state)
    return int(later[1]) - 1 if later else 0
