"""Renders results. What a report shows is in `result.json`; nothing is measured or judged here."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from storeproof.result.json_file import NAME, write_result, write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from storeproof.result.model import Result


def write_reports(result: Result, directory: Path, against: str = "") -> None:
    """Write `result.json` and everything that is rendered from it.

    The JSON comes first: if rendering breaks, the run is not lost, and `storeproof report` renders it again.
    """
    write_result(result, directory / NAME)
    render_reports(result, directory, against)


def render_reports(result: Result, directory: Path, against: str = "") -> None:
    """Write `report.html`, `report.md`, `junit.xml` and `latency.hlog`, each whole or not at all.

    `against`: the `store:variant` to which ratios are given; without it, to the fastest of each workload.
    """
    # Plots cost half a second to import: only who renders pays for them.
    from storeproof.report.histograms import render_histograms
    from storeproof.report.html import render_html
    from storeproof.report.junit import render_junit
    from storeproof.report.markdown import render_markdown
    from storeproof.result.json_file import shown_of

    directory.mkdir(parents=True, exist_ok=True)
    result = shown_of(result)  # also text that plots would complain about
    for name, render in (
        ("latency.hlog", render_histograms),
        ("junit.xml", render_junit),
        ("report.md", partial(render_markdown, against=against)),
        ("report.html", partial(render_html, against=against)),
    ):
        write_whole(directory / name, render(result))


def print_summary(result: Result, report: Path | None, console: Console) -> None:
    """Print one screen: what was found for each store and variant, and where the report is."""
    from storeproof.report.summary import print_summary as show

    show(result, report, console)
