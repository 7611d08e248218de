"""Draws the answer as a picture: PNG, SVG or PDF, wide for a screen or narrow for a phone."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from storeproof.errors import UsageError
from storeproof.report.answer_table import AnswerCell, AnswerTable, Group
from storeproof.stats.grade import Grade

FORMATS: Final = (".png", ".svg", ".pdf")

_INK, _DIM, _LINE, _BAR = "#1c1c1c", "#666666", "#d9d6cf", "#3b7bbf"
_FILLS: Final = {"good": "#e3f2e6", "near": "#fbf0d5", "bad": "#fbe0dd", "": "#ffffff"}
_GRADES: Final = {"A": "#0c6b3d", "B": "#63a56d", "C": "#e0b040", "D": "#b9b9b9"}
_TEXTS: Final = {"good": "#0c6b3d", "near": "#7a4a00", "bad": "#9d1414", "": _DIM}
_STYLE: Any = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "svg.fonttype": "none",
    "svg.hashsalt": "storeproof",
}
_DPI = 100
"""Of the layout, whose unit is a pixel; a PNG has more."""


_UPRIGHT = 50
"""A column that is narrower has its heading turned."""


@dataclass(frozen=True)
class _Size:
    """Pixels, and points of the letters."""

    store: int
    columns: Mapping[str, int]
    """Of each column, by the kind of its group."""
    row: int
    letters: float
    narrow: bool
    least: int
    """The picture is at least so wide."""


_WIDE = _Size(
    store=170, columns={"roles": 82, "losses": 100, "failovers": 100, "speeds": 126}, row=36, letters=9.5, narrow=False, least=620
)
_NARROW = _Size(store=135, columns={"roles": 27, "losses": 60, "failovers": 60, "speeds": 63}, row=34, letters=8.5, narrow=True, least=390)


def draw_answer(table: AnswerTable, path: Path, *, narrow: bool = False) -> None:
    """Draw the table into a file, in the format that its name says.

    Raises:
        UsageError: a name of another format, or a file that cannot be written.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the picture's name ends with one of {', '.join(FORMATS)}")
    with matplotlib.rc_context(_STYLE):
        figure = _Drawing(table, _NARROW if narrow else _WIDE).figure
        try:
            figure.savefig(path, dpi=1.6 * _DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as reason:
            raise UsageError(f"{path} cannot be written: {reason}; name another with --output") from None


class _Drawing:
    """Lays the table out from the top down."""

    def __init__(self, table: AnswerTable, size: _Size) -> None:
        self._size = size
        # A narrow picture has the speeds below the rest: beside it they have no room.
        parts = [table.groups]
        if size.narrow:
            parts = [[group for group in table.groups if (group.kind == "speeds") is below] for below in (False, True)]
        parts = [part for part in parts if part]
        widest = max(sum(size.columns[group.kind] * len(group.headings) for group in part) for part in parts)
        width = max(size.least, size.store + widest)
        characters = int((width - 20) / (size.letters * 0.68))
        answer = textwrap.wrap(table.answer, int(characters * 0.64), break_on_hyphens=False)
        notes = [line for note in table.notes for line in textwrap.wrap(note, characters, break_on_hyphens=False)]
        rows = [[number for number in range(len(table.stores)) if self._shown(part, number)] for part in parts]
        talls = [self._tall(part) for part in parts]
        tables = sum(tall + len(each) * size.row + 12 for tall, each in zip(talls, rows, strict=True))
        height = 12 + len(answer) * 21 + tables + len(notes) * 16 + 8
        self.figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor="white")
        self._axes = self.figure.add_axes((0, 0, 1, 1))
        self._axes.set(xlim=(0, width), ylim=(height, 0))
        self._axes.axis("off")
        top = 12.0
        for line in answer:
            self._text(10, top + 9, line, _INK, left=True, larger=2.5, bold=True)
            top += 21
        for part, tall, numbers in zip(parts, talls, rows, strict=True):
            top = self._part(top + 4, part, tall, [(table.stores[number], number) for number in numbers]) + 8
        for line in notes:
            self._text(10, top + 8, line, _DIM, left=True, larger=-1)
            top += 16

    def _shown(self, part: Sequence[Group], number: int) -> bool:
        """Of a part that is narrow, stores of which it says nothing are left out."""
        return not self._size.narrow or any(cell.text != "–" for group in part for cell in group.rows[number])

    def _tall(self, part: Sequence[Group]) -> float:
        """Of its headings."""
        upright = any(self._size.columns[group.kind] < _UPRIGHT for group in part)
        return (3.6 if upright else 2.2) * self._size.row

    def _part(self, top: float, groups: Sequence[Group], tall: float, stores: Sequence[tuple[tuple[str, str], int]]) -> float:
        size = self._size
        first = top + tall
        left = float(size.store)
        numbers = [number for _, number in stores]
        for group in groups:
            self._group(left, top, group, numbers, tall)
            left += size.columns[group.kind] * len(group.headings)
        for row, ((product, variant), _) in enumerate(stores):
            middle = first + (row + 0.5) * size.row
            self._text(8, middle - 7, product, _INK, left=True, bold=True, longest=22 if not size.narrow else 17)
            self._text(8, middle + 8, variant, _DIM, left=True, larger=-1.5, longest=30 if not size.narrow else 21)
        for row in range(len(stores) + 1):
            self._axes.plot([0, left], [first + row * size.row] * 2, color=_LINE, linewidth=0.7)
        return first + len(stores) * size.row

    def _group(self, left: float, top: float, group: Group, numbers: Sequence[int], tall: float) -> None:
        size = self._size
        width = size.columns[group.kind]
        span = width * len(group.headings)
        self._axes.add_patch(Rectangle((left, top), span, tall, facecolor="#f5f3ee", edgecolor=_LINE, linewidth=0.7))
        self._text(left + span / 2, top + 0.35 * size.row, group.title if span > 130 else group.title.split()[-1], _INK, bold=True)
        largest = max((cell.rate.high for row in group.rows for cell in row if cell.rate), default=1.0)
        for column, heading in enumerate(group.headings):
            at = left + column * width
            upright = width < _UPRIGHT
            lines = [line for part in heading.split("\n") for line in textwrap.wrap(part, max(8, int(width / 7.5)))]
            words = heading if upright else "\n".join(lines)
            self._text(at + width / 2, top + (tall + 0.6 * size.row) / 2, words, _INK, upright=upright)
            for row, number in enumerate(numbers):
                self._cell(at, top + tall + row * size.row, width, group.rows[number][column], largest)

    def _cell(self, left: float, top: float, width: float, cell: AnswerCell, largest: float) -> None:
        size = self._size
        self._axes.add_patch(Rectangle((left, top), width, size.row, facecolor=_FILLS[cell.tone], edgecolor=_LINE, linewidth=0.7))
        middle = top + size.row / 2
        if cell.rate is None or cell.grade is None:
            text = cell.brief if size.narrow else cell.text
            self._text(left + width / 2, middle, text, _TEXTS[cell.tone], larger=-1.5 if "\n" in text else 0)
            return
        room = width - 16
        self._axes.add_patch(Rectangle((left + 8, top + 6), room * cell.rate.median / largest, 6, facecolor=_BAR, linewidth=0))
        ends = [left + 8 + room * value / largest for value in (cell.rate.low, cell.rate.high)]
        self._axes.plot(ends, [top + 9] * 2, color=_INK, linewidth=1.6, solid_capstyle="butt")
        self._axes.text(
            left + width - 20, middle + 7, cell.brief if size.narrow else cell.text, color=_INK,
            fontsize=size.letters - 0.5, ha="right", va="center",
        )  # fmt: skip
        self._badge(left + width - 10, middle + 7, cell.grade)

    def _badge(self, x: float, y: float, grade: Grade) -> None:
        """A letter on its colour, which is never alone."""
        box = {"boxstyle": "round,pad=0.18", "facecolor": _GRADES[grade], "edgecolor": "none"}
        self._axes.text(
            x, y, grade, color=_INK if grade in "CD" else "white", fontsize=self._size.letters - 2, fontweight="bold",
            ha="center", va="center", bbox=box,
        )  # fmt: skip

    def _text(
        self, x: float, y: float, text: str, colour: str, *, left: bool = False, bold: bool = False, larger: float = 0,
        upright: bool = False, longest: int = 0,
    ) -> None:  # fmt: skip
        if longest and len(text) > longest:
            text = text[: longest - 1] + "…"
        self._axes.text(
            x, y, text, color=colour, fontsize=self._size.letters + larger, fontweight="bold" if bold else "normal",
            ha="left" if left else "center", va="center", rotation=90 if upright else 0, linespacing=1.15,
        )  # fmt: skip
