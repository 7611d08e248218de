"""A state on which a store fails is drawn beside its case: files, pages, and the record that is lost."""

from __future__ import annotations

from storeproof.outcome import Outcome, Stage
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.crash_states import states_drawn
from storeproof.result.measured.crash_states import CrashStateCounts, FailedState, FileLeft, PagesLeft
from storeproof.result.model import OutcomeRecord, Result
from tests.report.sample import TARGETS, sample_result

FILES = [
    FileLeft(
        path="db/<wal>",
        name="there",
        written=500 * 4096,
        left=90_000,
        pages=[
            PagesLeft(first=0, last=1, became="present"),
            PagesLeft(first=2, last=2, became="torn"),
            PagesLeft(first=3, last=3, became="zero"),
            PagesLeft(first=4, last=499, became="missing"),
        ],
    ),
    FileLeft(path="db/new", name="missing", written=10, left=None, pages=[]),
    FileLeft(path="db/many", name="there", written=1, left=1, pages=[PagesLeft(first=2 * n, last=2 * n, became="zero") for n in range(30)]),
]


def failed(states: int = 1) -> OutcomeRecord:
    counts = CrashStateCounts(
        model="ext4",
        requests=16,
        changes=40,
        tiers=[],
        losing=states,
        unusable=0,
        failed=[FailedState(state=f"{n}-all", depth=1, finding=f"after {n}-all: 1 lost, row[7]", files=FILES) for n in range(states)],
    )
    return OutcomeRecord(
        id="durability.crash_states/power_loss",
        revision=1,
        stage=Stage.DURABILITY,
        outcome=Outcome.FAIL,
        detail="1 of 9 states lose",
        seconds=1.0,
        crash_states=counts,
    )


def result(record: OutcomeRecord) -> Result:
    made = sample_result(TARGETS[:1])
    store = made.stores[0].model_copy(update={"outcomes": [*made.stores[0].outcomes, record]})
    return made.model_copy(update={"stores": [store]})


def test_pages_are_cells_and_many_alike_are_one() -> None:
    """As many as fit; what is left out is counted."""
    (state,) = states_drawn(failed())
    wal, new, many = state.files
    assert wal.cells == [("0", "present"), ("1", "present"), ("2", "torn"), ("3", "zero"), ("4 to 499", "missing")]
    assert wal.words == ("db/<wal>: pages 0 to 1 present, page 2 torn, page 3 zero, pages 4 to 499 missing, 90,000 of 2,048,000 bytes")
    assert (new.cells, new.note) == ([], "its name is not there")
    assert (len(many.cells), many.more, many.note) == (24, 6, "")
    assert many.words.endswith("page 14 zero, and 22 more")


def test_the_first_states_are_drawn_in_the_page_and_told_in_the_text() -> None:
    """Under what was found; a path cannot break the page."""
    page = render_html(result(failed(5)))
    assert page.count("<caption><code>") == 3
    assert page.index("1 of 9 states lose") < page.index('<figure class="states">')
    assert '<i class="page missing" title="page 4 to 499 missing">4 to 499</i>' in page
    assert "1 lost, row[7]" in page
    assert "<wal>" not in page
    text = render_markdown(result(failed(5)))
    assert text.count("db/new: its name is not there") == 3


def test_a_case_without_such_states_has_no_table() -> None:
    """Also one whose recording was too large to be looked at."""
    assert states_drawn(failed(0)) == []
    assert '<figure class="states">' not in render_html(result(failed(0)))
