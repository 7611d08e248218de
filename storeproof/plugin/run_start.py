"""The start of a run on the terminal: what must be known before hours are spent."""

from __future__ import annotations

import pytest

from storeproof.plugin.note import print_command, print_note
from storeproof.plugin.run import Run


def print_beginning(run: Run, reporter: pytest.TerminalReporter) -> None:
    """Whose numbers will bear no proof, and the command that proves them."""
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
