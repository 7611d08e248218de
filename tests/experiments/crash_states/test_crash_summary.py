"""What the states of a recording come to."""

from __future__ import annotations

from collections import Counter

import pytest

from storeproof.check import Anomaly, Finding
from storeproof.disk.recording import DiskState, RecordedChanges
from storeproof.experiments.crash_states.crash_summary import CrashSummary, number_of
from storeproof.experiments.crash_states.tried_state import TriedState
from storeproof.outcome import Outcome

LOST = Finding("single_key", "a", Anomaly.LOST, "absent")
INVENTED = Finding("single_key", "a", Anomaly.INVENTED, "a record")


def tried(tier: int = 0, **what: object) -> TriedState:
    return TriedState(DiskState(0, f"{tier}-all", tier, 10, 0), acknowledged=5, **what)  # type: ignore[arg-type]


def summed(*states: TriedState, of: int = 4) -> CrashSummary:
    summary = CrashSummary(model="ext4", requests=16, changes=40, states=Counter({0: of, 2: 3}))
    for each in states:
        summary.add(each)
    return summary


@pytest.mark.parametrize(
    ("state", "claimed", "unclaimed"),
    [
        (tried(), Outcome.PASS, Outcome.UNDECLARED),
        (tried(findings=[LOST]), Outcome.FAIL, Outcome.UNSUPPORTED),
        (tried(findings=[INVENTED]), Outcome.FAIL, Outcome.FAIL),
        (tried(broken="it does not start", ended=True), Outcome.FAIL, Outcome.UNSUPPORTED),
        (tried(broken="it refuses"), Outcome.FAIL, Outcome.UNSUPPORTED),
    ],
)
def test_the_worst_state_decides(state: TriedState, claimed: Outcome, unclaimed: Outcome) -> None:
    """A store that serves what no client wrote fails without a claim too."""
    summary = summed(tried(), state, tried())
    assert summary.outcome(claimed=True) is claimed
    assert summary.outcome(claimed=False) is unclaimed


def test_after_a_kill_every_store_has_to_start() -> None:
    """Its files are as it left them: no claim is needed, as it is for the disk that a power cut has left."""
    summary = summed(tried(broken="it does not start", ended=True))
    assert not summary.unexcused
    summary.model = "kernel"
    assert summary.outcome(claimed=False) is Outcome.FAIL
    assert len(summary.unexcused) == 1


def test_without_a_state_nothing_is_shown() -> None:
    """No pass for nothing."""
    assert summed().outcome(claimed=True) is Outcome.INCONCLUSIVE


def test_says_how_many_of_how_many_and_what_was_left_out() -> None:
    """Never "all states"."""
    said = summed(tried(), tried(2), tried(2, findings=[LOST], depth=2)).sentence()
    assert "3 of 7 states that a crash may leave of this recording (ext4) were tried" in said
    assert "not tried: 3 of 4 states that need what was asked for" in said
    assert "not tried: 1 of 3 states that need one page more or less" in said
    assert "after another crash after 2-all: 1 lost of 5 acknowledged" in said
    assert "each has every acknowledged write" not in said


def test_says_how_many_were_not_even_listed() -> None:
    """They are among those of which some were tried."""
    recording = summed(tried())
    recording.unlisted = 5
    summary = CrashSummary(model="ext4")
    summary.join(recording)
    said = summary.sentence()
    assert "1 of 12 states" in said
    assert "not tried: 5 states beyond those that are listed" in said


def test_the_counts_are_those_of_the_states() -> None:
    """By tier."""
    counts = summed(tried(), tried(findings=[LOST]), tried(2, broken="no start", ended=True)).counts()
    assert [(each.states, each.tried) for each in counts.tiers] == [(4, 2), (0, 0), (3, 1), (0, 0)]
    assert (counts.losing, counts.unusable, [each.state for each in counts.failed]) == (1, 1, ["0-all", "2-all"])


def test_a_state_is_held_against_the_marks_before_it_became_impossible() -> None:
    """A mark at a place is before the next change."""
    recording = RecordedChanges(changes=10, written=0, places=(1, 4, 7), marks=(5, 6, 7))
    assert [recording.last_mark(place) for place in (0, 1, 2, 4, 5, 8)] == [0, 0, 5, 5, 6, 7]


def test_recordings_are_joined() -> None:
    """All is summed up, and a state is named with its recording; the first needs no number."""
    summary = CrashSummary(model="ext4", requests=16)
    for _ in range(2):
        summary.join(summed(tried(), tried(2, findings=[LOST])))
    assert (summary.changes, summary.tried, summary.states) == (80, Counter({0: 2, 2: 2}), Counter({0: 8, 2: 6}))
    assert [each.state.name for each in summary.failed] == ["2-all", "2.2-all"]
    assert [number_of(each.state.name) for each in summary.failed] == [0, 1]
    said = summary.sentence()
    assert "4 of 14 states that a crash may leave of 2 recordings (ext4) were tried" in said
    assert "recorded: 32 requests, 80 changes of the disk" in said
