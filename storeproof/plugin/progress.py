"""Says on the terminal what a long step is doing and how long it will take."""

from __future__ import annotations

import contextlib
import shutil
import time

import pytest

_QUIET_SECONDS = 10.0
"""On a terminal every step shows in place; in a log only what comes this long after the last line."""


class Progress:
    """One status line: rewritten in place on a terminal, now and then a line elsewhere."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reporter: pytest.TerminalReporter | None = None
        self._last = time.monotonic()
        self._done = 0
        self._total = 0
        self._started = time.monotonic()

    def begin(self, total: int) -> None:
        """Start counting cases."""
        self._total, self._done, self._started = total, 0, time.monotonic()

    def case_done(self) -> None:
        """One case more is finished."""
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
        line = f"{text} · case {self._done + 1} of {self._total}{self._left()}" if self._total else text
        # While a case runs its output is captured; this line is not the case's.
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            if reporter.isatty:
                reporter.rewrite(line[: shutil.get_terminal_size().columns - 1], erase=True, cyan=True)
            else:
                reporter.write_line(line)

    def _left(self) -> str:
        """The time left, as cases go so far; said once there is something to go by."""
        if self._done < 5:
            return ""
        seconds = (time.monotonic() - self._started) / self._done * (self._total - self._done)
        return f" · about {seconds:.0f} s left" if seconds < 120 else f" · about {seconds / 60:.0f} min left"
