"""One note on the terminal: a label, and a text that goes on below it."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest

from storeproof.printable import printable

LABEL: Final = 8
"""Columns before the text of a line, as on the screen of results."""
NARROWEST: Final = 80


def print_note(reporter: pytest.TerminalReporter, label: str, text: str, **markup: bool) -> None:
    """A label and a text; what is longer than the terminal is wide goes on below."""
    width = max(NARROWEST, reporter.config.get_terminal_writer().fullwidth)
    for line in textwrap.wrap(
        printable(text),
        width - 1,
        initial_indent=f"{label:<{LABEL}}",
        subsequent_indent=" " * LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        reporter.write_line(line, **markup)


def print_command(reporter: pytest.TerminalReporter, label: str, text: str) -> None:
    """A text with a command, which must stay in one line."""
    reporter.write_line(printable(f"{label:<{LABEL}}{text}"))
