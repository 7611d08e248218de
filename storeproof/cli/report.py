"""`storeproof report`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from storeproof.errors import UsageError
from storeproof.report import render_reports, write_reports
from storeproof.report.summary import print_summary
from storeproof.result.json_file import read_result
from storeproof.result.leftovers import read_left, words_for
from storeproof.result.terminal_safe import shown_of


def render(path: Path, directory: Path | None) -> None:
    """Render the reports in the result's directory, or copy the result to another directory and render there; print the summary.

    Raises:
        UsageError: the result cannot be read, or the directory cannot be written.
    """
    result = read_result(path)
    beside = path if path.is_dir() else path.parent
    target = directory or beside
    try:
        if target.resolve() == beside.resolve():
            render_reports(result, target)
        else:
            write_reports(result, target)
    except OSError as reason:
        raise UsageError(f"{target} cannot be written: {reason}; name another directory with --report-dir") from None
    print_summary(shown_of(result), target / "report.html", Console())
    if left := words_for(read_left(beside)):
        print(f"left    {left}")
