"""The Markdown holds the same tables, and no text of a store breaks them."""

from __future__ import annotations

import re
from typing import Any

from storeproof.outcome import Outcome
from storeproof.report.markdown import render_markdown
from storeproof.result.model import Result
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
    assert text.startswith("# storeproof: SMOKE (a quick check of everything; too small for decisions)\n")
    assert "| measurements | 50 |" in text
    assert text.endswith("END OF REPORT\n")


def test_empty_sections_are_said() -> None:
    """Nothing is hidden because it is empty."""
    text = render_markdown(sample_result([]))
    for sentence in ("No store was run.", "Nothing was measured in this run."):
        assert sentence in text


def test_no_text_of_a_foreign_result_is_markup() -> None:
    """Whichever field it is in: a picture would be loaded from anywhere, and a link could be called anything."""
    evil = "<img src=x>[a](http://x.example)|**b**\x1b\u202e"
    data = sample_result(TARGETS[:2]).model_dump(mode="json")
    data["run"]["corpus"] = [{"name": "n", "language": "de", "pages": 1, "skipped_pages": 0, "checksum": "c"}]
    names = 0

    def spoil(part: dict[str, Any], *fields: str) -> None:
        nonlocal names
        for field in fields:
            part[field] = f"{part[field]}{evil}"
            names += 1

    spoil(data["edition"], "version", "hash")
    spoil(data["run"], "id", "started", "command", "scale", "storeproof")
    spoil(data["run"]["corpus"][0], "name", "language", "checksum")
    spoil(data["environment"], "cpu", "kernel", "disk", "filesystem", "python")
    for store in data["stores"]:
        spoil(store, "store", "variant", "title", "version")
        for each in store["outcomes"]:
            spoil(each, "id", "detail")
        for each in store["measurements"]:
            spoil(each, "workload", "title", "model", "operation")
    assert names > 100
    text = render_markdown(Result.model_validate(data))
    assert "&lt;img" in text
    assert "<img" not in text
    read = re.sub(r"<(pre|summary)>.*?</\1>", "", text)  # in a block of HTML Markdown reads nothing
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]\(http", read)
    assert not {"\x1b", "\u202e"} & set(text)
