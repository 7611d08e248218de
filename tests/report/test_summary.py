"""The summary is one screen, 80 or 120 columns wide, and says the same with and without colour."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from storeproof.report import print_summary
from storeproof.result.model import Result
from tests.report.sample import TARGETS, sample_result


def shown(result: Result, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_summary(result, Path("reports/latest/report.html"), console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("stores", [0, 1, 4, 6, 7, 9])
def test_it_fits(width: int, stores: int) -> None:
    """No line is wider than the terminal; every store is named."""
    lines = shown(sample_result(TARGETS[:stores]), width)
    assert max(len(line.rstrip()) for line in lines) <= width
    assert len(lines) <= 60
    text = "\n".join(lines)
    for store, _, variant, *_ in TARGETS[:stores]:
        assert f"{store}:{variant}" in text
    assert "STANDARD" in text
    assert lines[-1] == "report  reports/latest/report.html"


def test_many_stores_fit_on_one_screen() -> None:
    """Twenty-seven variants, one line each."""
    targets = [(store, title, f"{variant}-{copy}", *rest) for copy in range(3) for store, title, variant, *rest in TARGETS]
    lines = shown(sample_result(targets), 120)  # type: ignore[arg-type]
    assert len(lines) <= 60


def test_a_few_stores_are_told_with_all_that_was_found() -> None:
    """Counts, claimed and proven durability, recovery, capabilities, speed with its interval, verdicts."""
    text = " ".join(" ".join(shown(sample_result(TARGETS[4:5]), 120)).split())
    for part in (
        "mongodb:default · MongoDB 6.0.5 · process",
        "1 error · 1 fail",
        "54 pass · 2 of 7 claimed capabilities",
        "claimed process_crash · proven clean_restart · process_crash: 53 lost, 1 torn of 15,840 · back in",
        "hash10-put ",
        "/s [",
        "system_of_record does not conform",
    ):
        assert part in text


def test_a_claim_that_was_not_reached_is_marked_without_colour() -> None:
    """✘ where it was refuted, ○ where it was not shown."""
    text = "\n".join(shown(sample_result(), 120))
    assert "clean_restart ✘" in text
    assert "process_crash ○" in text


def test_a_run_without_stores_says_so() -> None:
    """Not an empty table."""
    assert "No store was run." in shown(sample_result([]), 80)
