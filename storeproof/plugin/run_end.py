"""What the terminal shows at the end of a run: one screen of results, then notes."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storeproof.cleanup.registry import registry
from storeproof.outcome import Outcome
from storeproof.plugin.needs import NeedsRun
from storeproof.plugin.note import NARROWEST, print_command, print_note
from storeproof.plugin.run import Run
from storeproof.result.model import Result

if TYPE_CHECKING:
    from rich.console import Console

_REASONS = 4
"""The number of reasons shown for cases that were not run; the report has all."""
_DEMANDS = 8
"""The number of unmet demands shown for a requested profile, and of claims that are not proven."""


def print_ending(run: Run, reporter: pytest.TerminalReporter) -> None:
    """Print the results; then cases that were not reached, what was missing, files that could not be written, and what was kept."""
    if run.result is None or run.saved is None:
        if not run.anything_selected:
            reporter.write_line(f"no case was selected; no report was written, and {run.report_dir.path} is unchanged", yellow=True)
        return
    _print_screen(run.result, run.saved.file, reporter)
    if run.needs is not None:
        _print_answer(run.needs, reporter)
    for line in _unmet_demands(run.result) if run.profiles else ():
        print_note(reporter, "missing", line)
    for line in _first(run.unproven, "claims that are not proven"):
        print_note(reporter, "unproven", line)
    if run.not_reached:
        print_note(reporter, "ended", f"early: {run.not_reached} cases were not started", yellow=True)
    for line in _why_not_run(run.result):
        print_note(reporter, "not run", line)
    for line in filter(None, (run.saved.complaint, run.uncleared)):
        reporter.write_line(run.safe.text(line), red=True)
    for line in filter(None, (run.saved.earlier, *run.notices)):
        print_note(reporter, "earlier", run.safe.text(line), yellow=True)
    for line in registry.kept:
        print_command(reporter, "kept", line)


def _print_screen(result: Result, report: Path | None, reporter: pytest.TerminalReporter) -> None:
    from storeproof.report import print_summary  # not at the top, so that collecting cases does not load it
    from storeproof.result.json_file import shown_of

    _print_by(lambda console: print_summary(shown_of(result), report, console), reporter)


def _print_answer(needs: NeedsRun, reporter: pytest.TerminalReporter) -> None:
    if needs.decision is None:
        print_note(reporter, "answer", f"none: {needs.undecided}", yellow=True)
        return
    from storeproof.report.decision.screen import print_decision

    reporter.write_line("")
    _print_by(partial(print_decision, needs.decision), reporter)


def _print_by(show: Callable[[Console], None], reporter: pytest.TerminalReporter) -> None:
    from rich.console import Console

    writer = reporter.config.get_terminal_writer()
    screen = io.StringIO()
    console = Console(
        file=screen,
        force_terminal=writer.hasmarkup,
        color_system="standard" if writer.hasmarkup else None,
        width=max(NARROWEST, writer.fullwidth),
        highlight=False,
    )
    show(console)
    reporter.ensure_newline()
    for line in screen.getvalue().splitlines():
        reporter.write_line(line.rstrip())


def _unmet_demands(result: Result) -> Iterator[str]:
    """Why a store does not conform, or which demands were not run."""
    for store in result.stores:
        for profile in store.profiles:
            missing = [f"{profile.profile} · {store.name} · {each}" for each in profile.missing]
            yield from _first(missing, f"demands of {profile.profile}")


def _first(lines: Sequence[str], what: str) -> Iterator[str]:
    """As many as a screen has room for."""
    yield from lines[:_DEMANDS]
    if len(lines) > _DEMANDS:
        yield f"and {len(lines) - _DEMANDS} more {what}: see the report"


def _why_not_run(result: Result) -> Iterator[str]:
    """What was missing and how to provide it: one line for each reason, the most frequent first."""
    reasons = Counter(
        f"{store.name} · {outcome.detail.partition(chr(10))[0]}"
        for store in result.stores
        for outcome in store.outcomes
        if outcome.outcome is Outcome.NOT_RUN and outcome.is_begun
    )
    for reason, number in reasons.most_common(_REASONS):
        yield f"{number} of {reason}"
    if len(reasons) > _REASONS:
        yield f"and for {len(reasons) - _REASONS} other reasons: see the report"
