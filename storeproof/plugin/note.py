"""One note on the terminal: a label, and a text that goes on below it."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest

from storeproof.plugin.disks import same_device
from storeproof.plugin.run import Run
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


def print_beginning(run: Run, reporter: pytest.TerminalReporter) -> None:
    """Which disks are models, and which are one; whose numbers will bear no proof, and the command that proves them."""
    for name, model in run.options.models.items():
        print_note(reporter, "note", f"the disk {name} is no device: {model.title}, {model.figures}", yellow=True)
    for line in same_device(run.options.disks):
        print_note(reporter, "note", line, yellow=True)
    unproven = run.without_proof()
    if not unproven:
        return
    names = ", ".join(sut.target.id for sut in unproven)
    provable = [sut for sut in unproven if not sut.at_endpoint]
    print_note(
        reporter,
        "note",
        f"{names}: this run neither tries all that is claimed nor cites a proof. What is not verified is not measured, and "
        "`storeproof compare` refuses a number without proven durability. "
        + ("To prove it first:" if provable else "At an endpoint nothing is struck, so that no durability can be proven."),
        yellow=True,
    )
    if not provable:
        return
    print_command(reporter, "", f"{provable[0].command('correctness or durability', provable[1:])} --report-dir=reports/proof")
    print_note(reporter, "", "and then to measure: this command with --proof=reports/proof", yellow=True)
