"""Says on the terminal what a long step is doing and how long it will take."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

from storeproof.printable import in_one_line

_QUIET_SECONDS = 10.0
"""On a terminal every step shows in place; in a log only what comes this long after the last line."""

_CASES = 5
"""Before that many are done, nothing is said of the time that is left."""


class Progress:
    """One status line: on a terminal it stands below what pytest writes, and comes and goes; elsewhere it is a line now and then."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reporter: pytest.TerminalReporter | None = None
        self._last = time.monotonic()
        self._total = 0
        self._before: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._since = time.monotonic()
        self._shown = False
        self._bad = 0

    def begin(self, cases: Iterable[pytest.Item]) -> None:
        """Start counting cases."""
        self._before = Counter(map(_kind, cases))
        self._total, self._since = self._before.total(), time.monotonic()

    def case_done(self, case: pytest.Item, *, bad: bool = False) -> None:
        """One case more is finished; `bad`: it failed, or ended in an error."""
        self.hide()
        self._bad += bad
        kind, now = _kind(case), time.monotonic()
        self._before[kind] -= 1
        self._done[kind] += 1
        self._seconds[kind] += now - self._since
        self._since = now

    def __call__(self, text: str) -> None:
        """Show what is being done."""
        self._reporter = self._reporter or self._config.pluginmanager.get_plugin("terminalreporter")
        reporter = self._reporter
        if reporter is None or self._config.get_verbosity() < 0:
            return
        if not reporter.isatty and time.monotonic() - self._last < _QUIET_SECONDS:
            return
        self._last = time.monotonic()
        bad = f" · {self._bad} failed" if self._bad else ""
        place = f"{self._done.total() + 1}/{self._total}{bad}{self._left()} · " if self._total else ""
        line = place + in_one_line(text)  # what matters first: a line may be cut
        if reporter.isatty:
            self._draw(line)
            self._shown = True
        else:
            with self._not_captured():
                reporter.write_line(line)

    def hide(self) -> None:
        """Take the line away, before pytest writes."""
        if self._shown:
            self._draw("")
            self._shown = False

    def _draw(self, line: str) -> None:
        """Write below the current line, and go back to where pytest left off: it knows nothing of this."""
        columns = shutil.get_terminal_size().columns
        width = self._config.get_terminal_writer().width_of_current_line
        to_the_right = f"\x1b[{(width - 1) % columns + 1}C" if width else ""
        begin, end = ("\x1b[36m", "\x1b[0m") if self._config.get_terminal_writer().hasmarkup else ("", "")  # not with NO_COLOR
        with self._not_captured():
            sys.stdout.write(f"\n\x1b[2K{begin}{line[: columns - 1]}{end}\x1b[A\r{to_the_right}")
            sys.stdout.flush()

    def _not_captured(self) -> contextlib.AbstractContextManager[None]:
        """While a case runs its output is captured; the status line is not the case's."""
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        return capture.global_and_fixture_disabled() if capture else contextlib.nullcontext()

    def _left(self) -> str:
        """The time left, as cases of each kind took so far; said once there is something to go by."""
        if self._done.total() < _CASES:
            return ""
        seconds = sum(self._seconds[kind] / done * self._before[kind] for kind, done in self._done.items())
        untried = any(count and not self._done[kind] for kind, count in self._before.items())
        if untried and seconds < 1:
            return ""
        word = "over" if untried else "about"
        return f" · {word} {seconds:.0f} s left" if seconds < 120 else f" · {word} {seconds / 60:.0f} min left"


def _kind(case: pytest.Item) -> str:
    """The test that it is a case of: those of one take about as long as each other."""
    return case.nodeid.partition("[")[0]
