"""The states of a disk on which a store fails: of each file the pages that were written last, and what a crash left of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from storeproof.experiments.crash_states.left_files import in_words, note_of
from storeproof.result.measured.crash_states import FileLeft
from storeproof.result.model import OutcomeRecord

_STATES: Final = 3
"""Of a case, that are drawn."""
_SINGLE: Final = 8
"""Pages that follow each other and are drawn one by one; more are one cell."""
_CELLS: Final = 24


@dataclass(frozen=True)
class FileRow:
    """One file."""

    path: str
    note: str
    """What there is to say besides its pages."""
    cells: list[tuple[str, str]]
    """The number of a page, or of the first and last of some, and what became of it."""
    more: int
    """Cells that are left out."""
    words: str
    """All of it, as text."""


@dataclass(frozen=True)
class StateDrawn:
    """One state."""

    state: str
    finding: str
    """With the record that is not as it should be."""
    files: list[FileRow]


def states_drawn(found: OutcomeRecord) -> list[StateDrawn]:
    """The first failed states of a case."""
    failed = found.crash_states.failed if found.crash_states is not None else []
    shown = [each for each in failed if each.files][:_STATES]
    return [StateDrawn(each.state, each.finding, list(map(_row, each.files))) for each in shown]


def states_told(found: OutcomeRecord) -> list[str]:
    """The same as lines of text."""
    return [f"{each.state}: {row.words}" for each in states_drawn(found) for row in each.files]


def _row(file: FileLeft) -> FileRow:
    cells = list(_cells(file))
    return FileRow(file.path, note_of(file), cells[:_CELLS], max(len(cells) - _CELLS, 0), in_words(file))


def _cells(file: FileLeft) -> Iterator[tuple[str, str]]:
    for run in file.pages:
        if run.last - run.first < _SINGLE:
            yield from ((str(page), run.became) for page in range(run.first, run.last + 1))
        else:
            yield f"{run.first} to {run.last}", run.became
