"""Makes pytest's output safe to show: messages, tracebacks, captured output and warnings may have text from a server, and passwords."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pytest
from _pytest._code.code import ExceptionChainRepr, ReprEntry

from storeproof.masking import mask
from storeproof.printable import printable


class TerminalSafe:
    """Escapes terminal control sequences, and masks the passwords that the run knows."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets

    def text(self, text: str) -> str:
        return printable(mask(text, self._secrets))

    def report(self, report: pytest.TestReport) -> None:
        safe = self.text
        report.sections = [(title, safe(text)) for title, text in report.sections]
        shown = report.longrepr
        if isinstance(shown, str):
            report.longrepr = safe(shown)
        elif isinstance(shown, tuple):
            path, line, reason = shown
            report.longrepr = (path, line, safe(reason))
        elif isinstance(shown, ExceptionChainRepr):
            for traceback, crash, _ in shown.chain:
                if crash is not None:
                    crash.message = safe(crash.message)
                for entry in traceback.reprentries:
                    entry.lines = [safe(line) for line in entry.lines]
                    if isinstance(entry, ReprEntry):
                        self._frame(entry)

    def _frame(self, entry: ReprEntry) -> None:
        safe = self.text
        if entry.reprfuncargs is not None:
            entry.reprfuncargs.args = [(name, safe(str(value))) for name, value in entry.reprfuncargs.args]
        if entry.reprlocals is not None:
            entry.reprlocals.lines = [safe(line) for line in entry.reprlocals.lines]
        if entry.reprfileloc is not None:
            entry.reprfileloc.message = safe(entry.reprfileloc.message)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Also what pytest says of an exception that ended a thread of a client."""
        said = str(warning_message.message)
        if said != self.text(said):
            warning_message.message = warning_message.category(self.text(said))
