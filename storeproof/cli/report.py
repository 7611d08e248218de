"""`storeproof report` and `storeproof picture`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from storeproof.cli.compare import find
from storeproof.errors import UsageError
from storeproof.report import render_reports, write_reports
from storeproof.report.answer_table import answer_table
from storeproof.report.durability_cost import durability_cost
from storeproof.report.summary import print_summary
from storeproof.result.compare import sides_of
from storeproof.result.json_file import read_result, read_shown, shown_of
from storeproof.result.leftovers import read_left, words_for
from storeproof.spec import load_spec


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


def picture(
    paths: Sequence[Path], speeds: Path | None, workloads: Sequence[str], output: Path, *, narrow: bool, cost_of_durability: str | None
) -> None:
    """Draw the roles and losses of results, with the throughput of another one or of the only one; or what durability costs.

    Raises:
        UsageError: a result cannot be read, has nothing to draw, or the picture cannot be written; or it is not said whose throughput is
            drawn.
    """
    from storeproof.report.pictures.answer import draw_answer  # only here: matplotlib takes as long to import as all of storeproof

    first, *more = [read_shown(path) for path in paths]
    measured = any(store.measurements for each in (first, *more) for store in each.stores)
    if more and speeds is None and (measured or cost_of_durability is not None):
        raise UsageError("several results: whose throughput is drawn? Name it with --speeds")
    other = read_shown(speeds) if speeds else first
    if cost_of_durability is not None:
        draw_answer(durability_cost([first, *more], other, cost_of_durability), output, narrow=narrow)
        return
    titles = {name: each.title for name, each in load_spec().capabilities.items()}
    draw_answer(answer_table([first, *more], other, workloads, titles), output, narrow=narrow)
