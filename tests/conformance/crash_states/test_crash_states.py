"""A claim is held against the states of its recording: true ones are accepted, and each forgery is refused for its own reason."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.conformance.histories.crash_states import JudgedStates
from storeproof.conformance.histories.durability import JudgedAgain, check_durability
from storeproof.conformance.reasons import ClaimRefused
from storeproof.disk.recording import read_recording
from storeproof.evidence import EVIDENCE, EvidenceDamaged, evidence_file, member_of, read_evidence
from storeproof.experiments.crash_states.crash_summary import CrashSummary
from storeproof.experiments.crash_states.state_judge import replay_states
from storeproof.outcome import Outcome
from storeproof.result.model import StoreResult
from storeproof.spec import Target
from storeproof.spec.known_failure import FindingKind, KnownFailure, KnownFinding
from tests.conformance.crash_states.forged_states import FORGERIES, Forgery, replaced
from tests.conformance.crash_states.recorded_log import CASE, MODEL, STORE, TARGET, Claim, made
from tests.conformance.published import published
from tests.shipped import SHIPPED

KNOWN: Any = SimpleNamespace(spec=SHIPPED, scale=lambda _: SHIPPED.scales["smoke"], disputed=frozenset())


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Claim:
    return made(tmp_path_factory.mktemp("disk"), synced=True)


@pytest.fixture(scope="module")
def losing(tmp_path_factory: pytest.TempPathFactory) -> Claim:
    return made(tmp_path_factory.mktemp("disk"), synced=False)


@pytest.fixture(scope="module")
def forgetting(tmp_path_factory: pytest.TempPathFactory) -> Claim:
    return made(tmp_path_factory.mktemp("disk"), synced=True, late=True)


def refused(claim: Claim, seconds: float = 3600.0, *others: Claim, recordings: int = 1, target: Target = TARGET) -> str:
    """Why a bundle with it is refused; empty where it is not. The evidence is written and read as in one.

    Args:
        others: with the evidence of further recordings.
        recordings: as many as the scale wants.
    """
    result, claims = published(), (claim, *others)
    content = evidence_file(result.run.id, [member_of(each.evidence) for each in claims])
    record = (
        result.stores[0]
        .outcomes[0]
        .model_copy(update={"id": CASE, "outcome": claim.outcome, "seconds": seconds, "spoiled": 0, "crash_states": claim.counts})
    )
    store = result.stores[0].model_copy(update={"outcomes": [record]})
    smoke = SHIPPED.scales["smoke"]
    wanted = smoke.durability.crash_states.model_copy(update={"recordings": recordings})
    scale = smoke.model_copy(update={"durability": smoke.durability.model_copy(update={"crash_states": wanted})})
    known: Any = SimpleNamespace(spec=SHIPPED, scale=lambda _: scale, disputed=frozenset())
    judged = JudgedStates(result.run, store, target, known)
    try:
        taken = [judged.take(each) for each in read_evidence(io.BytesIO(content), result.run.id)]
        judged.check()
    except (ClaimRefused, EvidenceDamaged) as reason:
        return str(reason)
    assert taken == [True] * len(claims)
    assert judged.said == [
        f"{CASE}: {len(each.crash.states)} of {sum(each.crash.states_of_tiers)} states listed again, and judged" for each in claims
    ]
    return ""


def test_true_states_are_accepted(true: Claim, losing: Claim) -> None:
    """Of a log that keeps its word, and of one that does not."""
    assert refused(true) == ""
    assert true.counts.losing == 0
    assert refused(losing) == ""
    assert losing.counts.losing > 0


@pytest.mark.parametrize(("outcome", "why"), [(Outcome.NOT_RUN, None), (Outcome.PASS, "and the result counts none")])
def test_states_of_an_earlier_recording_may_be_there(outcome: Outcome, why: str | None, true: Claim) -> None:
    """Where nothing follows from a later one, so that the case was not run."""
    result = published()
    (part,) = read_evidence(io.BytesIO(evidence_file(result.run.id, [member_of(true.evidence)])), result.run.id)
    record = result.stores[0].outcomes[0].model_copy(update={"id": CASE, "outcome": outcome, "crash_states": None})
    judged = JudgedStates(result.run, result.stores[0].model_copy(update={"outcomes": [record]}), TARGET, KNOWN)
    with nullcontext() if why is None else pytest.raises(EvidenceDamaged, match=why):
        assert judged.take(part)
        judged.check()


def joined(*claims: Claim) -> Claim:
    """The first one, with what a result says of all together."""
    summary = CrashSummary(model=MODEL, requests=claims[0].crash.requests)
    for each in claims:
        crash = each.crash
        recording = CrashSummary(model=MODEL, changes=crash.changes, states=Counter(dict(enumerate(crash.states_of_tiers))))
        replay_states(each.evidence, recording)
        listed = {state.name: state for state in read_recording(crash.recording, MODEL)[2]}
        for failed in recording.failed:
            failed.state = listed[failed.state.name]
        recording.look_at_failed(read_recording(crash.recording, MODEL)[0])
        summary.join(recording)
    return replace(deepcopy(claims[0]), counts=summary.counts())


def test_several_recordings_are_summed_up(true: Claim, tmp_path: Path) -> None:
    """None may be missing, come twice, or in another order; and a state is named with its recording."""
    second = made(tmp_path, synced=False, store=1)
    both = replace(joined(true, second), outcome=Outcome.FAIL)
    assert both.counts.losing == second.counts.losing > 0
    assert [each.state for each in both.counts.failed] == [f"2.{each.state}" for each in second.counts.failed]
    assert refused(both, 3600.0, second, recordings=2) == ""
    assert "has 1 recordings, where the scale wants 2" in refused(true, recordings=2)
    assert "changes is" in refused(both, recordings=2)
    assert "with the seed" in refused(both, 3600.0, true, recordings=2)
    assert "with the seed" in refused(replace(second, counts=both.counts), 3600.0, true, recordings=2)
    first, *others = both.counts.failed
    failed = [first.model_copy(update={"files": []}), *others]
    forged = replace(both, counts=both.counts.model_copy(update={"failed": failed}))
    assert "is shown with other files than it has" in refused(forged, 3600.0, second, recordings=2)


@pytest.mark.parametrize(("kind", "accepted"), [("unstartable", True), ("unusable", False)])
def test_a_failure_is_known_by_its_kind_where_its_log_is_not_kept(true: Claim, kind: FindingKind, accepted: bool) -> None:
    """The evidence has nothing of the log by which a run knows why the store did not start."""
    claim = deepcopy(true)
    state = claim.crash.states[3]
    claim.crash.states[3] = replace(state, depth=1, seen=None, client=None, again=None, broken="it ended before it answered", ended=True)
    claim.evidence.operations = [each for each in claim.evidence.operations if each.client != state.client]
    found = KnownFinding(kinds=(kind,), said="bad format of the log")
    known = KnownFailure(variants=(TARGET.variant,), findings=(found,), issue="its log", until=date.max)
    target = replace(TARGET, store=STORE.model_copy(update={"known_failures": {CASE: known}}))
    said = refused(replace(joined(claim), outcome=Outcome.KNOWN_FAIL), target=target)
    assert said == ("" if accepted else f"states: {CASE} is known_fail in the result, and fail by its states")


def test_states_may_be_left_out_for_want_of_time_alone(true: Claim) -> None:
    """The last ones, after the time of the scale."""
    fewer = deepcopy(true)
    _leave_out_last(fewer)
    assert refused(fewer) == ""
    wanted = SHIPPED.scales["smoke"].durability.crash_states.seconds
    assert f"left out states after 0.25 s, where the scale has {wanted:g} s" in refused(fewer, seconds=0.25)


def test_some_states_are_tried_whatever_the_time(true: Claim) -> None:
    """A case that took as long as it likes has as many of each recording as the scale wants at least."""
    least = SHIPPED.scales["smoke"].durability.crash_states.at_least
    fewer = deepcopy(true)
    while len(fewer.crash.states) > least:
        _leave_out_last(fewer)
    assert refused(fewer) == ""
    _leave_out_last(fewer)
    assert f"tried {least - 1} states of a recording, where the scale wants {least}" in refused(fewer)


def _leave_out_last(claim: Claim) -> None:
    last = claim.crash.states.pop()
    claim.evidence.operations = [each for each in claim.evidence.operations if each.client != last.client]
    claim.counted(last.tier, -1)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda each: each.forge.__name__)
def test_a_forgery_is_refused_by_name(forgery: Forgery, true: Claim) -> None:
    """Whatever else is written again so that it fits."""
    claim = deepcopy(true)
    forgery.forge(claim)
    said = refused(claim)
    assert forgery.says in said, said


def test_a_failed_state_cannot_be_read_again(losing: Claim, forgetting: Claim) -> None:
    """What it shows then is not what the result counts, be it records that are missing or what is beside them alone."""
    for true in (losing, forgetting):
        claim = deepcopy(true)
        replaced(claim)
        assert f"losing is {true.counts.losing} in the result, and {true.counts.losing - 1} by its states" in refused(claim)


def test_what_is_lost_beside_a_record_is_a_loss_of_its_own(forgetting: Claim) -> None:
    """It is named, and the record that is there is not."""
    assert refused(forgetting) == ""
    assert forgetting.counts.losing > 0
    found = [each.finding for each in forgetting.counts.failed]
    assert all(":expiring#expiry'] lost: found absent" in each or ":indexed#entry'] lost: found absent" in each for each in found), found


def test_what_was_found_is_what_was_lost(losing: Claim) -> None:
    """By kind: a loss is no broken start."""
    claim = deepcopy(losing)
    assert claim.counts.kinds["lost"] == claim.counts.losing
    claim.counts = claim.counts.model_copy(update={"kinds": {"unusable": claim.counts.losing}})
    assert "kinds is {'unusable': " in refused(claim)


def test_a_failed_state_is_shown_as_it_is(losing: Claim) -> None:
    """Page by page."""
    claim = deepcopy(losing)
    (first, *others) = claim.counts.failed
    (log,) = first.files
    assert [(each.first, each.became) for each in log.pages] == [(0, "missing")]
    drawn = log.model_copy(update={"pages": [log.pages[0].model_copy(update={"became": "present"})]})
    failed = [first.model_copy(update={"files": [drawn]}), *others]
    claim.counts = claim.counts.model_copy(update={"failed": failed})
    assert "is shown with other files than it has" in refused(claim)


def test_a_case_that_counts_states_has_them(true: Claim) -> None:
    """Without evidence nothing can be judged again."""
    result = published()
    record = result.stores[0].outcomes[0].model_copy(update={"id": CASE, "crash_states": true.counts})
    judged = JudgedStates(result.run, result.stores[0].model_copy(update={"outcomes": [record]}), TARGET, KNOWN)
    with pytest.raises(ClaimRefused, match="there are no states of"):
        judged.check()


def test_they_are_judged_with_the_histories_of_a_bundle(true: Claim) -> None:
    """And the answer says of how many states that is."""
    result = published()
    content = evidence_file(result.run.id, [member_of(true.evidence)])
    digest = hashlib.sha256(content).hexdigest()
    record = (
        result.stores[0]
        .outcomes[0]
        .model_copy(update={"id": CASE, "outcome": Outcome.PASS, "seconds": 3600.0, "spoiled": 0, "crash_states": true.counts})
    )
    kept = result.stores[0].durability.model_copy(update={"guarantees": []})
    store = result.stores[0].model_copy(update={"outcomes": [record], "durability": kept})
    archive: Any = SimpleNamespace(places={EVIDENCE: content}, read=lambda _: content, digest=lambda _: digest)
    judge: Any = SimpleNamespace(reach=True, parts=True, workloads=True)

    def judged(store: StoreResult) -> JudgedAgain:
        return check_durability(result.run.model_copy(update={"evidence": digest}), store, TARGET, archive, KNOWN, judge)

    assert judged(store).states == (f"{CASE}: {len(true.crash.states)} of {len(true.crash.states)} states listed again, and judged",)
    with pytest.raises(ClaimRefused, match="the result counts none"):
        judged(store.model_copy(update={"outcomes": [record.model_copy(update={"crash_states": None})]}))
