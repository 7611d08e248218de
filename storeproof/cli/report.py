"""`storeproof report`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from storeproof.cli.compare import find
from storeproof.errors import UsageError
from storeproof.report import render_reports, write_reports
from storeproof.report.summary import print_summary
from storeproof.result.compare import sides_of
from storeproof.result.json_file import read_result
from storeproof.result.leftovers import read_left, words_for
from storeproof.result.terminal_safe import shown_of


def render(path: Path, directory: Path | None, against: str = "") -> None:
    """Render the reports in the result's directory, or copy the result to another directory and render there; print the summary.

    Args:
        path: the result, or the directory that holds it.
        directory: where the reports go; None: beside the result.
        against: the store that ratios are to; empty: the fastest of each workload.

    Raises:
        UsageError: the result cannot be read or has no such store, or the directory cannot be written.
    """
    result = read_result(path)
    reference = find(path, sides_of(result), against, "--against").name if against else ""
    beside = path if path.is_dir() else path.parent
    target = directory or beside
    try:
        if target.resolve() == beside.resolve():
            render_reports(result, target, reference)
        else:
            write_reports(result, target, reference)
    except OSError as reason:
        raise UsageError(f"{target} cannot be written: {reason}; name another directory with --report-dir") from None
    print_summary(shown_of(result), target / "report.html", Console())
    if left := words_for(read_left(beside)):
        print(f"left    {left}")
