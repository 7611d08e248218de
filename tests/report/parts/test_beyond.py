"""In which way a profile is met, and what a store has of the extended part: each store's, beside the verdict."""

from __future__ import annotations

from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.missing import beyond
from storeproof.report.parts.overview import overview
from tests.site.made import judged, result, tried, way

SWEPT = "expiry.swept (expired records are removed within two minutes)"
EXTENDED = {"expiry.set": "supported", "expiry.read": "unsupported", "key_access.put-if-absent": "not_shown"}
MADE = result(
    tried("mongodb:a", profiles=[judged("cache", "conforms", ways=[way("expiry.swept")], extended=EXTENDED)]),
    tried("mongodb:b", profiles=[judged("cache", "conforms", ways=[way("expiry.swept")], extended=EXTENDED)]),
    tried(
        "sqlite:a",
        profiles=[judged("cache", "incomplete", ["guarantee power_loss: not_run"], extended=dict.fromkeys(EXTENDED, "not_shown"))],
    ),
)


def test_the_way_and_the_extended_part_are_listed() -> None:
    """Variants that are alike share a row; a store of which nothing was shown has none."""
    assert [[cell.text for cell in row] for row in beyond(MADE).rows] == [
        ["cache", "mongodb: a, b", SWEPT, "expiry.set", "expiry.read: not supported; key_access.put-if-absent: not shown"]
    ]


def test_the_reports_have_both() -> None:
    """The verdict itself names a way that is not the strictest, and leads to the table."""
    cell = next(cell for cell in overview(MADE).rows[0] if "meets" in cell.text)
    assert (cell.text, cell.link, cell.hint) == ("✔ meets by expiry.swept", "#beyond", SWEPT)
    for page in (render_html(MADE), render_markdown(MADE)):
        assert "In which way, and what beyond the core" in page
        assert "key_access.put-if-absent: not shown" in page


def test_results_without_either_have_no_table() -> None:
    """Such as all of formats before 2.3."""
    assert beyond(result(tried("redis:x", profiles=[judged("cache", "conforms")]))).rows == []
