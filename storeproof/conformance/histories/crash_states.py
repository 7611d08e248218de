"""Lists the states of a recording again, judges again what was read in each, and compares what follows with the result."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from storeproof import native_support
from storeproof.conformance.histories.judged_trials import JudgedTrials
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.disk.recording import RecordedChanges, read_recording
from storeproof.evidence import MOST_TRIED, CrashEvidence, EvidenceDamaged, StoreEvidence
from storeproof.experiments.crash_states.crash_summary import CrashSummary, name_of, number_of
from storeproof.experiments.crash_states.left_files import files_left
from storeproof.experiments.crash_states.state_judge import in_order, replay_states
from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.measured.crash_states import CrashStateCounts
from storeproof.spec.cases import crash_states_case
from storeproof.spec.guarantee import CRASHES, GuaranteeName

_CASES: Final = {crash_states_case(name): name for name in CRASHES}


@dataclass
class _Case:
    """The recordings of a case so far."""

    guarantee: GuaranteeName
    summary: CrashSummary
    store: int = -1
    """The number of the last one's store: a spoiled store is followed by another."""
    due: int = 0
    """States that were to be tried if there was time."""


@dataclass
class JudgedStates(JudgedTrials):
    """The states in one bundle."""

    _cases: dict[str, _Case] = field(default_factory=dict)

    def take(self, part: StoreEvidence) -> bool:
        """Judge a part of the evidence; False: it is none of a recording.

        Raises:
            EvidenceDamaged: it is none of a run.
            ClaimRefused: it shows something else than the result says.
        """
        if part.crash is None:
            return False
        guarantee = _CASES.get(part.case)
        if guarantee is None or part.rounds:
            raise EvidenceDamaged(f"the states of {part.case[:60]!r} are not those of a recording of a crash")
        record = self.record_of(part.case)
        if record is None or (record.crash_states is None and record.outcome is not Outcome.NOT_RUN):
            raise EvidenceDamaged(f"there are states of {part.case}, and the result counts none")
        if record.crash_states is None:
            return True  # nothing follows from a later recording
        wanted, counts, crash = self.known.spec.guarantees[guarantee].crash_model, record.crash_states, part.crash
        summary = CrashSummary(model=counts.model, requests=counts.requests)
        case = self._cases.setdefault(part.case, _Case(guarantee, summary))
        self._check_seed(part, case, record.spoiled)
        if not wanted == crash.model == counts.model:
            found = f"{crash.model} in the evidence and {counts.model} in the result"
            raise ClaimRefused(Reason.STATES, f"{part.case} is tried under the model {wanted}; it is {found}")
        if crash.requests != counts.requests:
            raise ClaimRefused(Reason.STATES, f"{part.case}: a recording has {crash.requests} requests, the result {counts.requests}")
        self.said.append(f"{part.case}: {_listed_again(part, crash, counts, case.summary.recordings)}")
        recording = CrashSummary(model=crash.model, requests=crash.requests, changes=crash.changes)
        recording.states = Counter(dict(enumerate(crash.states_of_tiers)))
        replay_states(part, recording)
        case.summary.join(recording)
        due = min(sum(crash.states_of_tiers), MOST_TRIED)
        least, tried = min(due, self.known.scale(self.run.scale).durability.crash_states.at_least), recording.tried.total()
        if record.outcome in SHOWN and tried < least:
            words = f"tried {tried} states of a recording, where the scale wants {least} however long they take"
            raise ClaimRefused(Reason.STATES, f"{part.case} {words}")
        case.due += due
        return True

    def check(self) -> None:
        """Raises `ClaimRefused`: the states of a case show something else than the result says, or there are none."""
        for each in self.store.outcomes:
            if each.crash_states is not None and any(tier.tried for tier in each.crash_states.tiers) and each.id not in self._cases:
                raise ClaimRefused(Reason.EVIDENCE, f"there are no states of {each.id}, which counts some")

        for name, case in self._cases.items():
            with self.disputable(name):
                self._compare(name, case)

    def _check_seed(self, part: StoreEvidence, case: _Case, spoiled: int) -> None:
        begin, _, store = part.seed.rpartition(" ")
        number = int(store) if re.fullmatch(r"[0-9]{1,4}", store) else -1
        wanted = f"{self.run.seed} {self.target.id} crash_states {case.guarantee}"
        # Each recording and each spoiled store before it has the next number.
        if (part.target, begin) != (self.target.id, wanted) or not case.store < number <= case.summary.recordings + spoiled:
            found = in_one_line(f"{part.target} with the seed {part.seed!r}", 100)
            due = f"'{wanted} {case.store + 1}'"
            raise ClaimRefused(Reason.SEED, f"the states of {part.case} are of {found}, the claim's of {self.target.id} with {due}")
        case.store = number

    def _compare(self, name: str, case: _Case) -> None:
        record, summary = self.record_of(name), case.summary
        assert record is not None
        assert record.crash_states is not None
        for what, says, shows in _differing(record.crash_states, summary.counts()):
            raise ClaimRefused(Reason.STATES, f"{name}: {what} is {says} in the result, and {shows} by its states")
        scale, shown = self.known.scale(self.run.scale).durability.crash_states, record.outcome in SHOWN
        if summary.requests != scale.requests:
            raise ClaimRefused(Reason.STATES, f"{name} recorded {summary.requests} requests, where the scale wants {scale.requests}")
        if shown and summary.recordings != scale.recordings:
            raise ClaimRefused(Reason.STATES, f"{name} has {summary.recordings} recordings, where the scale wants {scale.recordings}")
        if shown and summary.tried.total() < case.due and record.seconds < scale.seconds:
            raise ClaimRefused(Reason.STATES, f"{name} left out states after {record.seconds:g} s, where the scale has {scale.seconds:g} s")
        self.check_outcome(record, summary, Reason.STATES, claimed=self.target.configuration.promises(case.guarantee))


def _listed_again(part: StoreEvidence, crash: CrashEvidence, counts: CrashStateCounts, which: int) -> str:
    """How the states were listed again. Raises `ClaimRefused`: they are not those of the recording, or one is shown as another."""
    if not crash.recording:
        return "which states there are is the maker's word: the recording is too large to be kept"
    if not native_support.present():
        return f"which states there are was not computed again: the compiled part is missing here; {native_support.REMEDY}"
    try:
        kept, recording, states = read_recording(crash.recording, crash.model)
    except ValueError as reason:
        raise ClaimRefused(Reason.STATES, f"{part.case}: {in_one_line(str(reason), 120)}") from None
    if recording.changes != crash.changes:
        raise ClaimRefused(Reason.STATES, f"{part.case} has {crash.changes} changes of its disk, and its recording {recording.changes}")
    _check_marks(part, crash, recording)
    tiers = Counter(each.tier for each in states)
    if [tiers[tier] for tier in range(len(crash.states_of_tiers))] != crash.states_of_tiers or len(crash.states) > len(states):
        raise ClaimRefused(Reason.STATES, f"{part.case} has {crash.states_of_tiers} states by tier, and its recording {dict(tiers)}")
    for number, (wanted, each) in enumerate(zip(in_order(states, part.seed), crash.states, strict=False), 1):
        due = (wanted.name, wanted.tier, recording.last_mark(wanted.until), wanted.fingerprint)
        if due != (each.name, each.tier, each.mark, each.fingerprint):
            words = (
                "another disk" if due[:3] == (each.name, each.tier, each.mark) else f"{in_one_line(each.name, 40)} up to mark {each.mark}"
            )
            raise ClaimRefused(Reason.STATES, f"{part.case}: state {number} is {words}, where {wanted.name} up to mark {due[2]} was due")
    places = {name_of(each.name, which): each.index for each in states}
    for shown in counts.failed:
        if number_of(shown.state) != which:
            continue
        if shown.state not in places or shown.files != files_left(kept, places[shown.state]):
            raise ClaimRefused(Reason.STATES, f"{part.case}: {in_one_line(shown.state, 40)} is shown with other files than it has")
    return f"{len(crash.states)} of {len(states)} states listed again, and judged"


def _check_marks(part: StoreEvidence, crash: CrashEvidence, recording: RecordedChanges) -> None:
    """Raises `ClaimRefused`: the marks among the changes are not the requests and replies of the operations."""
    first = recording.marks[0] if recording.marks else 0
    load = crash.load(part.operations)
    if len({(each.invoked, each.client) for each in load}) > len({each.invoked for each in load}):
        raise ClaimRefused(Reason.STATES, f"{part.case}: a mark is that of requests of several clients")
    moments = {moment for each in load for moment in (each.invoked, each.completed) if moment is not None}
    if [*recording.marks] != sorted(moment for moment in moments if moment >= first):
        raise ClaimRefused(Reason.STATES, f"{part.case}: the marks among its changes are not the requests and replies of its operations")


def _differing(says: CrashStateCounts, shows: CrashStateCounts) -> list[tuple[str, object, object]]:
    """In what the counts differ; of a state that did not work its words are the log's, which is masked."""
    told = ("changes", "requests", "losing", "unusable", "kinds")
    found = [(what, getattr(says, what), getattr(shows, what)) for what in told if getattr(says, what) != getattr(shows, what)]
    for what in ("states", "tried"):
        there, here = ([getattr(tier, what) for tier in each.tiers] for each in (says, shows))
        if there != here:
            found.append((f"the number of {what} by tier", there, here))
    failed = [[(each.state, each.depth) for each in counts.failed] for counts in (says, shows)]
    if failed[0] != failed[1]:
        found.append(("the list of states that fail", in_one_line(str(failed[0]), 80), in_one_line(str(failed[1]), 80)))
    return found
