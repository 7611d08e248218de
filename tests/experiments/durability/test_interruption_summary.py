"""What becomes of a case in which one server of a composite store was interrupted."""

from __future__ import annotations

import pytest

from storeproof.check import judge_key, staleness
from storeproof.experiments.durability.interruption_summary import InterruptionSummary, Waited
from storeproof.history import ABSENT, Observation
from storeproof.outcome import Outcome
from tests.check.accesses import accesses

FRESH = ("put a |--|", "put b      |--|", "get -> b         |--|")
STALE = ("put a |--|", "put b      |--|", "get -> a         |--|")
UNWRITTEN = ("put a |--|", "get -> c      |--|")


def summary(
    read: tuple[str, ...] = FRESH, home: Observation | None = None, given_up: int = 3, *, stale_possible: bool = False, waited: int = 0
) -> InterruptionSummary:
    """That of one round with one key; `home`: what the home has, by default the last write."""
    made = InterruptionSummary(what="the front was paused", stale_possible=stale_possible)
    operations = accesses(*read)
    writes = [each for each in operations if each.action != "get"]
    seen = home or Observation("whole", writes[-1].write_id)
    made.add(given_up, operations, staleness(operations), [judge_key(writes, seen)], Waited(waited, 0.25))
    return made


def test_a_round_without_a_loss_and_without_a_stale_read_passes() -> None:
    """The sentence says how much was at risk."""
    found = summary()
    assert found.outcome(claimed=True) is Outcome.PASS
    assert found.sentence() == (
        "1 round in which the front was paused, and clients gave up 3 requests; 2 writes acknowledged; "
        "none is missing in the home; "
        "none of 1 reads was stale"
    )


def test_a_stale_read_fails_unless_it_is_declared_as_possible() -> None:
    """It is counted either way."""
    found = summary(STALE)
    assert found.outcome(claimed=True) is Outcome.FAIL
    (finding,) = found.findings
    assert finding.startswith("round 1: 1 of 1 reads were stale; 'k': get -> a, sent")
    declared = summary(STALE, stale_possible=True)
    assert declared.outcome(claimed=True) is Outcome.PASS
    assert "1 of 1 reads were stale, by 0 ms at most, which is declared as possible" in declared.sentence()


@pytest.mark.parametrize("stale_possible", [False, True])
def test_what_the_home_lost_or_no_client_wrote_always_fails(stale_possible: bool) -> None:
    """Whatever is declared of reads."""
    lost = summary(home=ABSENT, stale_possible=stale_possible)
    assert lost.outcome(claimed=True) is Outcome.FAIL
    assert lost.findings[0].startswith("round 1: 1 lost in the home; ")
    made_up = summary(UNWRITTEN, stale_possible=stale_possible)
    assert made_up.outcome(claimed=True) is Outcome.FAIL
    assert made_up.findings == ["round 1: a read returned the record of no write: get -> c"]


def test_a_round_in_which_no_client_gave_up_shows_nothing() -> None:
    """As one that the machine spoiled: neither for nor against the store. A failure is one all the same."""
    assert summary(given_up=0).outcome(claimed=True) is Outcome.INCONCLUSIVE
    assert "no client gave up in round 1" in summary(given_up=0).sentence()
    assert summary(STALE, given_up=0).outcome(claimed=True) is Outcome.FAIL
    spoiled = summary()
    spoiled.given_up, spoiled.spoiled = True, ["no answer"]
    assert spoiled.outcome(claimed=True) is Outcome.INCONCLUSIVE


def test_what_waited_for_the_home_is_told() -> None:
    """The most of a round, and the longest time; nothing of a policy with which no write waits."""
    found = summary(waited=7)
    assert "up to 7 acknowledged writes waited for the home, which had all 0.2 s after the end at the latest" in found.sentence()
    assert "waited" not in summary().sentence()


def test_a_loss_that_no_claim_excludes_is_counted_and_no_failure() -> None:
    """With `write-behind` a home that was interrupted may be given an older write again."""
    found = summary(home=ABSENT)
    assert found.outcome(claimed=False) is Outcome.UNSUPPORTED
    assert "1 lost in the home" in found.sentence()
