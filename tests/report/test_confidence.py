"""How much the rounds support, in the tables of a report."""

from __future__ import annotations

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.report import tables
from storeproof.report.faults_without_guarantee import hardships
from storeproof.report.html import render_html as html
from storeproof.report.markdown import render_markdown as markdown
from storeproof.report.parts.fault_table import faults
from storeproof.report.parts.losses import brief, limit
from storeproof.result.measured.damage import DamageCounts
from storeproof.result.model import GuaranteeRecord, OutcomeRecord, Result, WorstLoss
from tests.report.sample import sample_result

RECORD = GuaranteeRecord(
    guarantee="power_loss", outcome=Outcome.PASS, rounds=20, acknowledged=1000, unknown=3, lost=0, resurrected=0,
    reverted=0, torn=0, invented=0, miscounted=0, recovery_seconds=[0.1], detail="",
    faults_by_load={"burst": 5, "stream": 5, "bulk": 5, "compaction": 5}, second_faults=15, faults_with_loss=0, loss_bound=0.1391,
)  # fmt: skip


def with_record(record: GuaranteeRecord, *outcomes: OutcomeRecord) -> Result:
    """The sample with one store, whose only fault is this."""
    result = sample_result()
    store = result.stores[0]
    durability = store.durability.model_copy(update={"claimed": "power_loss", "proven": "power_loss", "guarantees": [record]})
    return result.model_copy(
        update={"stores": [store.model_copy(update={"durability": durability, "outcomes": [*store.outcomes, *outcomes]})]}
    )


def test_the_ladder_says_how_much_the_rounds_support() -> None:
    """A passed fault shows the number of rounds and the 95 % bound on the share that loses data."""
    row = tables.ladder(with_record(RECORD)).rows[0]
    assert any(cell.text.endswith("pass (none of 20 faults lost anything; 95 %: < 14 %)") for cell in row)


def test_losses_are_counted_beside_their_faults() -> None:
    """A failed fault shows lost of acknowledged operations, what was found of the records, and in how many of the rounds."""
    record = RECORD.model_copy(
        update={"outcome": Outcome.FAIL, "lost": 50, "lost_operations": 70, "faults_with_loss": 1, "loss_bound": 0.2161}
    )
    row = tables.ladder(with_record(record)).rows[0]
    assert any("70 of 1,000 operations (7 %); records: 50 lost (1 of 20 faults lost anything; 95 %: < 22 %)" in cell.text for cell in row)


def test_rounds_that_are_no_evidence_support_nothing() -> None:
    """Without a bound there is no claim; a bound of one is said as `all may`."""
    assert brief(RECORD.model_copy(update={"loss_bound": None})) == ""
    assert limit(RECORD.model_copy(update={"loss_bound": None})) == "–"
    assert limit(RECORD.model_copy(update={"loss_bound": 1.0})) == "all may"


def test_every_fault_says_what_went_on_and_the_gravest_loss() -> None:
    """The table of faults shows the load under which each was injected, and the shape and time window of the worst loss."""
    record = RECORD.model_copy(update={"worst_loss": WorstLoss(shape="holes", records=1, window_ms=1234.5)})
    table = faults(with_record(record))
    row = dict(zip(table.header, (cell.text for cell in table.rows[0]), strict=True))
    assert row["struck during"] == "5 burst, 5 stream, 5 bulk, 5 compaction; 15 again during the recovery"
    assert row["gravest loss"] == "holes: 1 operation of 1,234 ms"
    assert row["share that loses anything, 95 %"] == "< 14 %"


@pytest.mark.usefixtures("undrawn")
def test_both_reports_explain_the_brackets_and_show_what_else_was_done() -> None:
    """HTML and Markdown name the method of the interval, and show the other faults."""
    full = OutcomeRecord(id="durability.full_disk", revision=1, stage=Stage.DURABILITY, outcome=Outcome.PASS, detail="ENOSPC", seconds=1.0)
    result = with_record(RECORD, full)
    table = hardships(result)
    assert table.header == ("store:variant", "disk full")
    assert table.rows[0][1].hint == "ENOSPC"
    for page in (html(result), markdown(result)):
        assert "Clopper and Pearson" in page
        assert "disk full" in page


@pytest.mark.parametrize(
    ("damage", "text", "tone"),
    [
        (DamageCounts(rounds=5, made_up=5, silent=1), "✘ wrong data in 5 of 5", "bad"),
        (DamageCounts(rounds=5, made_up=0, silent=3), "✗ silent loss in 3 of 5", "near"),
        (DamageCounts(rounds=5, made_up=0, silent=0), "✔ pass", "pass"),
        (None, "✔ pass", "pass"),
    ],
)
def test_wrong_data_is_red_and_silent_loss_amber_whatever_is_claimed(damage: DamageCounts | None, text: str, tone: str) -> None:
    """With the number of rounds, whatever the words say."""
    done = {"id": "durability.corruption/flip", "detail": "4 rounds; 2 times it served data", "damage": damage}
    damaged = OutcomeRecord(revision=1, stage=Stage.DURABILITY, outcome=Outcome.PASS, seconds=1.0, **done)  # type: ignore[arg-type]
    cell = hardships(with_record(RECORD, damaged)).rows[0][1]
    assert (cell.text, cell.tone) == (text, tone)


def test_a_run_that_did_nothing_else_has_no_such_table() -> None:
    """Without other faults their table is empty, and left out."""
    assert not hardships(sample_result()).rows
