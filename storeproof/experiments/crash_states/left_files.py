"""What a crash left of the files of a store, beside what the store saw; and in words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, cast

from storeproof.printable import in_one_line
from storeproof.result.measured.crash_states import FileLeft, NameWord, PagesLeft, PageWord

if TYPE_CHECKING:
    from storeproof.native import DiskRecording

_LONGEST: Final = 200
"""Characters of a path."""
_SAID: Final = 8
"""Runs of pages."""
_NAMES: Final = {
    "another": "an earlier file of this name is still there",
    "missing": "its name is not there",
    "removed": "still there, and was removed",
}


def files_left(recording: DiskRecording, index: int) -> list[FileLeft]:
    """The files of a state that differ from what the store saw, or had something to lose."""
    return [
        FileLeft(
            path=in_one_line(os.fsdecode(path), _LONGEST) or ".",
            name=cast(NameWord, name),
            written=written,
            left=left,
            pages=list(_runs(pages)),
        )
        for path, name, written, left, pages in recording.describe(index)
    ]


def _runs(pages: Sequence[tuple[int, str]]) -> Iterator[PagesLeft]:
    """Pages that follow each other with the same fate as one."""
    for (_, word), run in groupby(enumerate(pages), key=lambda each: (each[1][0] - each[0], each[1][1])):
        numbers = [number for _, (number, _) in run]
        yield PagesLeft(first=numbers[0], last=numbers[-1], became=cast(PageWord, word))


def in_words(file: FileLeft) -> str:
    """`wal: pages 0 to 3 present, page 4 missing, 16,384 of 20,480 bytes`."""
    said = [f"{_numbers(run)} {run.became}" for run in file.pages[:_SAID]]
    if len(file.pages) > _SAID:
        said.append(f"and {sum(run.last - run.first + 1 for run in file.pages[_SAID:])} more")
    return f"{file.path}: {', '.join(filter(None, [*said, note_of(file)]))}"


def note_of(file: FileLeft) -> str:
    """What there is to say besides its pages; empty where nothing is."""
    if file.name != "there":
        return _NAMES[file.name]
    return f"{file.left or 0:,} of {file.written or 0:,} bytes" if file.written != file.left else ""


def _numbers(run: PagesLeft) -> str:
    return f"page {run.first}" if run.first == run.last else f"pages {run.first} to {run.last}"
