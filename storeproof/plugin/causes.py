"""The terminal shows failures with the same cause once: one bug in an adapter can fail a thousand cases. The report has all of them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator

import pytest

_SPECIFIC = re.compile(r"sp_[0-9a-f]+_\d+|0x[0-9a-f]+|\d+", re.IGNORECASE)
"""Names of collections, addresses and numbers, which differ between failures with the same cause."""


@contextlib.contextmanager
def once_each(reporter: pytest.TerminalReporter) -> Iterator[None]:
    """While pytest prints its sections, keep only the first report of each cause; with -vv keep all."""
    whole = {category: reporter.stats.get(category, []) for category in ("failed", "error")}
    if reporter.config.get_verbosity() < 2:
        for category, reports in whole.items():
            reporter.stats[category] = _first_of_each(reports)
    try:
        yield
    finally:
        reporter.stats.update(whole)  # pytest counts them in its last line


def _first_of_each(reports: Iterable[pytest.TestReport]) -> list[pytest.TestReport]:
    first: dict[str, pytest.TestReport] = {}
    more: dict[str, int] = {}
    for report in reports:
        cause = _cause(report)
        more[cause] = more.get(cause, -1) + 1
        first.setdefault(cause, report)
    for cause, report in first.items():
        if more[cause]:
            report.sections.append((f"and {more[cause]} more like this", "The report has all of them; -vv prints them here."))
    return list(first.values())


def _cause(report: pytest.TestReport) -> str:
    """The failure without what is specific to the case: the first line of its detail, or the exception and where it was raised."""
    where = getattr(report.longrepr, "reprcrash", None)
    said = f"{where.path}:{where.lineno}: {where.message}" if where is not None else report.longreprtext
    first = next((line for line in said.splitlines() if line.strip()), report.nodeid)
    return _SPECIFIC.sub("#", first)
