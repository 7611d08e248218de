"""Says on the terminal what a long step is doing and how long it will take."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time

import pytest

_QUIET_SECONDS = 10.0
"""On a terminal every step shows in place; in a log only what comes this long after the last line."""


class Progress:
    """One status line: on a terminal it stands below what pytest writes, and comes and goes; elsewhere it is a line now and then."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reporter: pytest.TerminalReporter | None = None
        self._last = time.monotonic()
        self._done = 0
        self._total = 0
        self._started = time.monotonic()
        self._shown = False

    def begin(self, total: int) -> None:
        """Start counting cases."""
        self._total, self._done, self._started = total, 0, time.monotonic()

    def case_done(self) -> None:
        """One case more is finished."""
        self.hide()
        self._done += 1

    def __call__(self, text: str) -> None:
        """Show what is being done."""
        self._reporter = self._reporter or self._config.pluginmanager.get_plugin("terminalreporter")
        reporter = self._reporter
        if reporter is None or self._config.get_verbosity() < 0:
            return
        if not reporter.isatty and time.monotonic() - self._last < _QUIET_SECONDS:
            return
        self._last = time.monotonic()
        line = f"{self._done + 1}/{self._total}{self._left()} · {text}" if self._total else text  # what matters first: a line may be cut
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
        with self._not_captured():
            sys.stdout.write(f"\n\x1b[2K\x1b[36m{line[: columns - 1]}\x1b[0m\x1b[A\r{to_the_right}")
            sys.stdout.flush()

    def _not_captured(self) -> contextlib.AbstractContextManager[None]:
        """While a case runs its output is captured; the status line is not the case's."""
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        return capture.global_and_fixture_disabled() if capture else contextlib.nullcontext()

    def _left(self) -> str:
        """The time left, as cases go so far; said once there is something to go by."""
        if self._done < 5:
            return ""
        seconds = (time.monotonic() - self._started) / self._done * (self._total - self._done)
        return f" · about {seconds:.0f} s left" if seconds < 120 else f" · about {seconds / 60:.0f} min left"
