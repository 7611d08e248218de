"""Shows on the terminal what a long step is doing and how much time is left."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterable

import pytest

from storeproof.printable import in_one_line

_QUIET_SECONDS = 10.0
"""A terminal shows every step in place; a log gets a line only if the last one was this long ago."""

_CASES = 5
"""No estimate of the time left is shown before this many cases are done."""


class Progress:
    """One status line. On a terminal it is drawn below pytest's output; in a log it is a line every few seconds."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reporter: pytest.TerminalReporter | None = None
        self._last = time.monotonic()
        self._total = 0
        self._ended = 0
        self._running = ""
        self._measured: set[str] = set()
        """The kinds of cases that are measured several at a time, whose work is done when that is: see `measured`."""
        self._before: defaultdict[str, float] = defaultdict(float)
        self._done: defaultdict[str, float] = defaultdict(float)
        """In cases; one of which some laps are over is done in part."""
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._since = time.monotonic()
        self._shown = False
        self._bad = 0

    def begin(self, cases: Iterable[pytest.Item]) -> None:
        for case in cases:
            self._total += 1
            self._before[_kind(case)] += 1
        self._since = time.monotonic()

    def case_begins(self, case: pytest.Item) -> None:
        self._running = _kind(case)

    def measured(self, cases: float) -> None:
        """While a case runs, the work of a number of cases of its kind was done, one of them its own: the next ones find theirs done."""
        self._measured.add(self._running)
        self._count(self._running, cases)

    def case_done(self, case: pytest.Item, *, bad: bool = False) -> None:
        """Another case is finished; `bad`: it failed, or ended in an error."""
        self.hide()
        self._bad += bad
        self._ended += 1
        kind = _kind(case)
        self._count(kind, 0 if kind in self._measured else 1)

    def _count(self, kind: str, cases: float) -> None:
        now = time.monotonic()
        self._before[kind] -= cases
        self._done[kind] += cases
        self._seconds[kind] += now - self._since
        self._since = now

    def __call__(self, text: str) -> None:
        self._reporter = self._reporter or self._config.pluginmanager.get_plugin("terminalreporter")
        reporter = self._reporter
        if reporter is None or self._config.get_verbosity() < 0:
            return
        if not reporter.isatty and time.monotonic() - self._last < _QUIET_SECONDS:
            return
        self._last = time.monotonic()
        bad = f" · {self._bad} failed" if self._bad else ""
        place = f"{self._ended + 1}/{self._total}{bad}{self._left()} · " if self._total else ""
        line = place + in_one_line(text)  # the important part first, since a line may be cut
        if reporter.isatty:
            self._draw(line)
            self._shown = True
        else:
            with self._not_captured():
                reporter.write_line(line)

    def hide(self) -> None:
        """Remove the line before pytest writes."""
        if self._shown:
            self._draw("")
            self._shown = False

    def _draw(self, line: str) -> None:
        """Write below the current line, and move the cursor back to where pytest left it."""
        columns = shutil.get_terminal_size().columns
        width = self._config.get_terminal_writer().width_of_current_line
        to_the_right = f"\x1b[{(width - 1) % columns + 1}C" if width else ""
        begin, end = ("\x1b[36m", "\x1b[0m") if self._config.get_terminal_writer().hasmarkup else ("", "")  # not with NO_COLOR
        with self._not_captured():
            sys.stdout.write(f"\n\x1b[2K{begin}{line[: columns - 1]}{end}\x1b[A\r{to_the_right}")
            sys.stdout.flush()

    def _not_captured(self) -> contextlib.AbstractContextManager[None]:
        """Suspend the capture of a running case's output: the status line is not part of it."""
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        return capture.global_and_fixture_disabled() if capture else contextlib.nullcontext()

    def _left(self) -> str:
        """The time left, estimated from the cases of each kind so far; empty until there are enough of them."""
        if sum(self._done.values()) < _CASES:
            return ""
        seconds = sum(self._seconds[kind] / done * self._before[kind] for kind, done in self._done.items())
        untried = any(count and not self._done.get(kind) for kind, count in self._before.items())
        if untried and seconds < 1:
            return ""
        word = "over" if untried else "about"
        return f" · {word} {seconds:.0f} s left" if seconds < 120 else f" · {word} {seconds / 60:.0f} min left"


def _kind(case: pytest.Item) -> str:
    """The test function of a case: cases of one function take about the same time."""
    return case.nodeid.partition("[")[0]
