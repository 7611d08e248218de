"""What a profile misses is told once for all that miss it for the same reason."""

from __future__ import annotations

import pytest

from storeproof.report.tables import profile_matrix, shortfalls
from storeproof.result.model import ProfileVerdict
from tests.report.sample import sample_result


def test_a_reason_that_several_have_is_told_once() -> None:
    """Capabilities that fail a profile for the same reason share one line."""
    result = sample_result()
    missing = [
        "model nested: not claimed",
        "capability text.word/001: unsupported: no texts: none at all",
        "capability text.word/002: unsupported: no texts: none at all",
        "capability text.phrase/001: unsupported: no texts: none at all",
        "guarantee power_loss: not_run",
    ]
    result.stores[0].profiles[:] = [ProfileVerdict(profile="p", verdict="does_not_conform", missing=missing)]
    assert shortfalls(result).rows[0][-1].text == (
        "model nested: not claimed; capability text.word, text.phrase: unsupported: no texts: none at all; guarantee power_loss: not_run"
    )


@pytest.mark.parametrize(
    ("verdict", "missing", "text", "tone"),
    [
        ("conforms", [], "✔ meets", "pass"),
        (
            "does_not_conform",
            ["capability a.b/001: unsupported: no", "capability a.b/002: unsupported: no", "model m: not claimed"],
            "– lacks 2",
            "unsupported",
        ),
        ("does_not_conform", ["model m: not claimed", "capability a.b/001: fail: wrong"], "✘ failed what it claims", "fail"),
        ("does_not_conform", ["guarantee power_loss: known_fail: lost"], "✘ failed what it claims", "fail"),
        ("does_not_conform", ["guarantee power_loss: process_crash: known_fail: lost"], "✘ failed what it claims", "fail"),
        ("incomplete", ["capability a.b/001: not_run"], "○ not shown", "not_run"),
    ],
)
def test_a_store_that_never_was_one_has_not_failed(verdict: str, missing: list[str], text: str, tone: str) -> None:
    """It lacks things; red is for what it claims and does not do."""
    result = sample_result()
    result.stores[0].profiles[:] = [ProfileVerdict.model_validate({"profile": "p", "verdict": verdict, "missing": missing})]
    cell = profile_matrix(result).rows[0][1]
    assert (cell.text, cell.tone) == (text, tone)
