"""States of a crash and errors of a disk stand in one row for each variant, and what breaks a promise is red."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.crash_table import TITLE, crash_table
from storeproof.result.measured.crash_states import CrashStateCounts, TierCounts
from storeproof.result.measured.io_errors import ErrorTrials, IoErrorCounts
from storeproof.result.model import OutcomeRecord, Result
from tests.report.sample import TARGETS, sample_result

NONE = ErrorTrials(tried=0, refused=0, read_only=0, ended=0, went_on=0)


def record(case: str, outcome: Outcome, **counts: Any) -> OutcomeRecord:
    return OutcomeRecord(
        id=f"durability.{case}", revision=1, stage=Stage.DURABILITY, outcome=outcome, detail="what was seen", seconds=1.0, **counts
    )


def states(outcome: Outcome, *, losing: int = 0, unusable: int = 0, **kinds: int) -> OutcomeRecord:
    """Twelve of 1,030 were tried."""
    tiers = [TierCounts(states=30, tried=10), TierCounts(states=1_000, tried=2)]
    counts = CrashStateCounts(model="ext4", requests=16, changes=40, tiers=tiers, losing=losing, unusable=unusable, kinds=kinds, failed=[])
    return record("crash_states/power_loss", outcome, crash_states=counts)


def errors(outcome: Outcome, *, losing: int = 0, **kinds: int) -> OutcomeRecord:
    """Five of one kind were tried."""
    once, lasting = (NONE.model_copy(update={"tried": tried, "refused": 1, "ended": tried - 1}) for tried in (3, 2))
    counts = IoErrorCounts(
        error="eio_sync", requests=8, calls=9, once=once, lasting=lasting, losing=losing, unusable=0, kinds=kinds, failed=[]
    )
    return record("io_errors/eio_sync", outcome, io_errors=counts)


def result(*records: OutcomeRecord) -> Result:
    made = sample_result(TARGETS[:1])
    return made.model_copy(update={"stores": [made.stores[0].model_copy(update={"outcomes": list(records)})]})


def row_of(*records: OutcomeRecord) -> tuple[Sequence[str], Sequence[str]]:
    """The texts and the tones, without the first two cells."""
    (row,) = crash_table(result(*records)).rows
    return [cell.text for cell in row[2:]], [cell.tone for cell in row[2:]]


def test_what_was_tried_is_summed() -> None:
    """States over all tiers, errors over all kinds and durations; what was found over both."""
    lost = states(Outcome.FAIL, losing=2, unusable=1, lost=2, unstartable=1)
    texts, _ = row_of(lost, errors(Outcome.FAIL, losing=1, lost=1, reverted=1))
    assert texts == ["–", "–", "12 of 1,030", "3", "5", "2", "0", "3", "0", "1", "3 lost, 1 reverted, 1 unstartable"]


@pytest.mark.parametrize(
    ("outcome", "losing", "tone"),
    [(Outcome.FAIL, 1, "bad"), (Outcome.KNOWN_FAIL, 1, "bad"), (Outcome.UNSUPPORTED, 1, "near"), (Outcome.PASS, 0, "")],
)
def test_what_breaks_a_promise_is_red(outcome: Outcome, losing: int, tone: str) -> None:
    """A loss that no one promised to prevent is not."""
    assert row_of(states(outcome, losing=losing))[1][3] == tone
    assert row_of(errors(outcome, losing=losing))[1][9] == tone


def test_a_run_without_any_has_no_table() -> None:
    """Neither on the page nor in the text; with one, in both."""
    assert not crash_table(result()).rows
    for render in (render_html, render_markdown):
        assert TITLE not in render(result())
        assert TITLE in render(result(errors(Outcome.PASS)))
