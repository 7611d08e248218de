"""Makes pytest's output about a case safe for a terminal: messages, tracebacks and captured output may contain text from a server."""

from __future__ import annotations

import pytest
from _pytest._code.code import ExceptionChainRepr, ReprEntry

from storeproof.printable import printable


def made_safe(report: pytest.TestReport) -> None:
    """Escape terminal control sequences."""
    report.sections = [(title, printable(text)) for title, text in report.sections]
    shown = report.longrepr
    if isinstance(shown, str):
        report.longrepr = printable(shown)
    elif isinstance(shown, tuple):
        path, line, reason = shown
        report.longrepr = (path, line, printable(reason))
    elif isinstance(shown, ExceptionChainRepr):
        for traceback, crash, _ in shown.chain:
            if crash is not None:
                crash.message = printable(crash.message)
            for entry in traceback.reprentries:
                entry.lines = [printable(line) for line in entry.lines]
                if isinstance(entry, ReprEntry) and entry.reprfuncargs is not None:
                    entry.reprfuncargs.args = [(name, printable(str(value))) for name, value in entry.reprfuncargs.args]
