"""What a fault under load cost its clients is told in a row and drawn in a picture, from the data in the result."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.outages import outages
from storeproof.report.pictures.outages import pictures
from storeproof.result.measured.outage import OutageRecord
from storeproof.result.model import Result
from storeproof.result.part import Gate
from tests.report.sample import TARGETS, sample_outage, sample_result


def result_of(*records: OutageRecord) -> Result:
    """The sample, with the outages of its first store."""
    result = sample_result(TARGETS[:1])
    first = result.stores[0].model_copy(update={"outages": list(records)})
    return result.model_copy(update={"stores": [first, *result.stores[1:]]})


def row(record: OutageRecord) -> list[tuple[str, str]]:
    """Text and tone of each cell."""
    (found,) = outages(result_of(record)).rows
    return [(cell.text, cell.tone) for cell in found]


def test_a_row_says_what_clients_saw() -> None:
    """A row has the fault, its outcome, the unavailability, latencies before and during it, and losses."""
    texts = [text for text, _ in row(sample_outage("pause"))]
    assert texts == ["sqlite:wal-full", "pause", "✔ pass", "1 s", "8", "900 µs", "990 ms", "70 ms", "1.05 s", "0 of 600", "✔"]


@pytest.mark.parametrize(
    ("changed", "cell"),
    [
        ({"lost": 7, "outcome": Outcome.FAIL}, ("7 records; 600 acknowledged", "bad")),
        ({"lost": 7, "claimed": False}, ("7 records, not promised; 600 acknowledged", "near")),
        ({"degraded_seconds": None, "outcome": Outcome.INCONCLUSIVE}, ("not seen", "open")),
        ({"lost": None, "outcome": Outcome.FAIL}, ("600 not read back", "open")),
        ({"events": [], "outcome": Outcome.FAIL}, ("≥ 1 s", "strong")),
        ({"gates": {"schedule_lag_ms": Gate(ok=False, value=12.0, limit=5.0)}}, ("✘ schedule_lag_ms 12 (limit 5)", "bad")),
    ],
)
def test_what_is_wrong_is_seen(changed: dict[str, Any], cell: tuple[str, str]) -> None:
    """Losses, an end that was not seen, and failed gates are marked."""
    assert cell in row(sample_outage("crash", **changed))
    assert cell not in row(sample_outage("crash"))


def test_each_store_that_was_struck_has_a_picture() -> None:
    """Of every fault, with its moments by name, and a number where a bar would leave no room for the others."""
    (found,) = pictures(result_of(sample_outage("crash"), sample_outage("pause")))
    assert found.name == "sqlite:wal-full"
    assert found.about == "8 clients, 400 requests/s"
    for text in ("crash: kill -9 and a start at once", "pause: halted for a second", ">fault<", ">start, back<", ">up to 440<"):
        assert text in found.plot.svg
    assert "crash: 1 s unavailable, p99 990 ms during it; pause: 1 s" in found.plot.label


@pytest.mark.usefixtures("undrawn")
def test_both_reports_have_it() -> None:
    """HTML and Markdown have the section; a run without outages has none."""
    some, none = result_of(sample_outage("crash")), sample_result(TARGETS[:1])
    for render in (render_html, render_markdown):
        text = render(some)
        assert "While something fails" in text
        assert "1.05 s" in text
        assert "While something fails" not in render(none)


def test_it_survives_the_file() -> None:
    """An outage is the same after it was written and read."""
    some = result_of(sample_outage("restart", degraded_seconds=None))
    assert Result.model_validate_json(some.model_dump_json()).stores[0].outages == some.stores[0].outages
