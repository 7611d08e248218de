"""The Markdown holds the same tables, and no text of a store breaks them."""

from __future__ import annotations

import re

from storeproof.outcome import Outcome
from storeproof.report.markdown import render_markdown
from tests.report.sample import TARGETS, sample_result


def test_every_row_of_a_table_has_as_many_cells_as_its_header() -> None:
    """A pipe in a detail must not open a cell."""
    width = 0
    rows = 0
    for line in render_markdown(sample_result()).splitlines():
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", line))
            width = width or cells
            assert cells == width, line
            rows += 1
        else:
            width = 0
    assert rows > 200


def test_every_case_that_is_not_a_pass_is_listed_with_its_detail() -> None:
    """Markup in it is shown and does nothing."""
    result = sample_result(TARGETS[:2])
    text = render_markdown(result)
    for store in result.stores:
        for each in store.outcomes:
            if each.outcome is not Outcome.PASS:
                assert f"**{each.outcome}** <code>{each.id}</code>" in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "\x1b" not in text


def test_the_scale_and_the_sums_are_there() -> None:
    """The title says what the numbers are good for, the end what must be above it."""
    text = render_markdown(sample_result(TARGETS[:2], scale="smoke"))
    assert text.startswith("# storeproof: SMOKE (proves that all works; no basis for decisions)\n")
    assert "| measurements | 50 |" in text
    assert text.endswith("END OF REPORT\n")


def test_empty_sections_are_said() -> None:
    """Nothing is hidden because it is empty."""
    text = render_markdown(sample_result([]))
    for sentence in ("No store was run.", "Nothing was measured in this run.", "No profile was asked for"):
        assert sentence in text
