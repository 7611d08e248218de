"""Draws the answer as a picture: PNG, SVG or PDF, wide for a screen or narrow for a phone."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from storeproof.errors import UsageError
from storeproof.report.answer_table import AnswerCell, AnswerTable, ColumnGroup
from storeproof.report.pictures.lettering import DPI, FONTS, width_of, wrapped
from storeproof.stats.intervals import Grade

FORMATS: Final = (".png", ".svg", ".pdf")

_INK, _DIM, _LINE, _BAR = "#1c1c1c", "#666666", "#d9d6cf", "#3b7bbf"
_FILLS: Final = {"good": "#e3f2e6", "near": "#fbf0d5", "bad": "#fbe0dd", "": "#ffffff"}
_GRADES: Final = {"A": "#0c6b3d", "B": "#63a56d", "C": "#e0b040", "D": "#b9b9b9"}
_TEXTS: Final = {"good": "#0c6b3d", "near": "#7a4a00", "bad": "#9d1414", "": _DIM}
_STYLE: Any = {
    "font.family": ["sans-serif"],
    "font.sans-serif": list(FONTS),
    "svg.fonttype": "none",
    "svg.hashsalt": "storeproof",
}
_LINE_HEIGHT: Final = 1.62
"""Pixels from line to line, by the points of the letters."""
_MARGIN: Final = 10
"""Pixels beside what stands alone, and at the left and right of a cell together."""

_BADGE: Final = 20
"""Pixels of a grade, with what is beside it."""

_UPRIGHT: Final = 50
"""A column that is narrower has its heading turned."""


@dataclass(frozen=True)
class _Size:
    """Pixels, and points of the letters."""

    stores: tuple[int, int]
    """The least and the most for the names of the stores; longer ones have several lines."""
    columns: Mapping[str, int]
    """The least of each column, by the kind of its group."""
    row: int
    """The least."""
    letters: float
    narrow: bool
    least: int
    """The picture is at least so wide."""


_WIDE = _Size(
    stores=(170, 260), columns={"roles": 90, "losses": 100, "failovers": 100, "speeds": 126}, row=36, letters=9.5, narrow=False, least=620
)
_NARROW = _Size(
    stores=(135, 135), columns={"roles": 27, "losses": 60, "failovers": 60, "speeds": 63}, row=34, letters=8.5, narrow=True, least=390
)


def draw_answer(table: AnswerTable, path: Path, *, narrow: bool = False) -> None:
    """Draw the table into a file, in the format that its name says.
    Raises `UsageError`: a name of another format, or a file that cannot be written."""
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the picture's name ends with one of {', '.join(FORMATS)}")
    with matplotlib.rc_context(_STYLE):
        figure = _Drawing(table, _NARROW if narrow else _WIDE).figure
        try:
            if path.suffix == ".svg":
                drawn = io.StringIO()
                figure.savefig(drawn, format="svg", metadata={"Date": None})
                path.write_text(compact(drawn.getvalue()), encoding="utf-8")
            else:
                figure.savefig(path, dpi=1.6 * DPI)
        except OSError as reason:
            raise UsageError(f"{path} cannot be written: {reason}; name another with --output") from None


class _Drawing:
    """Lays the table out from the top down."""

    def __init__(self, table: AnswerTable, size: _Size) -> None:
        self._table = table
        self._size = size
        least, self._stores = map(float, size.stores)
        names = [self._names(number) for number in range(len(table.stores))]
        longest = [width_of(line, size.letters, bold=True) for product, _ in names for line in product]
        longest += [width_of(line, size.letters - 1.5) for _, variant in names for line in variant]
        self._stores = min(max(least, max(longest) + _MARGIN + 4), self._stores)
        self._columns = {group.kind: self._column(group) for group in table.groups}
        # A narrow picture has the speeds below the rest: beside it they have no room.
        parts = [table.groups]
        if size.narrow:
            parts = [[group for group in table.groups if (group.kind == "speeds") is below] for below in (False, True)]
        parts = [part for part in parts if part]
        self._width = max(size.least, self._stores + max(sum(map(self._span, part)) for part in parts))
        answer = self._lines(table.answer, self._width - 2 * _MARGIN, larger=2.5, bold=True)
        notes = [line for note in table.notes for line in self._lines(note, self._width - 2 * _MARGIN, larger=-1)]
        rows = [[number for number in range(len(table.stores)) if self._shown(part, number)] for part in parts]
        tables = sum(
            self._tall(part) + sum(self._row(part, number) for number in each) + 12 for part, each in zip(parts, rows, strict=True)
        )
        height = 12 + len(answer) * 21 + tables + len(notes) * 16 + 8
        self.figure = Figure(figsize=(self._width / DPI, height / DPI), dpi=DPI, facecolor="white")
        self._axes = self.figure.add_axes((0, 0, 1, 1))
        self._axes.set(xlim=(0, self._width), ylim=(height, 0))
        self._axes.axis("off")
        top = 12.0
        for line in answer:
            self._text(_MARGIN, top + 9, line, _INK, left=True, larger=2.5, bold=True)
            top += 21
        for part, numbers in zip(parts, rows, strict=True):
            top = self._part(top + 4, part, numbers) + 8
        for line in notes:
            self._text(_MARGIN, top + 8, line, _DIM, left=True, larger=-1)
            top += 16

    def _shown(self, part: Sequence[ColumnGroup], number: int) -> bool:
        """Of a part that is narrow, stores of which it says nothing are left out."""
        return not self._size.narrow or any(cell.text != "–" for group in part for cell in group.rows[number])

    def _lines(self, text: str, room: float, *, larger: float = 0, bold: bool = False) -> list[str]:
        return wrapped(text, room, self._size.letters + larger, bold=bold) if text else []

    def _column(self, group: ColumnGroup) -> float:
        """Where there is room for it, as wide as its longest word, line, or rate beside its grade, and its part of the group's title."""
        least = float(self._size.columns[group.kind])
        if self._size.narrow:
            return least
        letters, count = self._size.letters, len(group.headings)
        longest = [width_of(word, letters) for heading in group.headings for word in heading.split()]
        if count > 1:
            longest.append((width_of(group.title, letters, bold=True) + _MARGIN) / count - _MARGIN)
        for cell in (cell for row in group.rows for cell in row):
            if cell.rate is not None and cell.grade is not None:
                longest.append(width_of(cell.text, letters - 0.5) + _BADGE)
            elif "\n" in cell.text:
                longest += [width_of(line, letters - 1.5) for line in cell.text.split("\n")]
            else:
                longest += [width_of(word, letters) for word in cell.text.split()]
        return max(least, max(longest) + _MARGIN)

    def _span(self, group: ColumnGroup) -> float:
        return self._columns[group.kind] * len(group.headings)

    def _names(self, number: int) -> tuple[list[str], list[str]]:
        """The lines of a store's product, and those of its variant."""
        product, variant = self._table.stores[number]
        room = self._stores - _MARGIN - 4
        return self._lines(product, room, bold=True), self._lines(variant, room, larger=-1.5)

    def _said(self, cell: AnswerCell, width: float) -> tuple[list[str], float]:
        """The lines of a cell without a rate, and how much larger their letters are."""
        text = cell.brief if self._size.narrow else cell.text
        lines = self._lines(text, width - _MARGIN)
        return (lines, 0.0) if len(lines) == 1 else (self._lines(text, width - _MARGIN, larger=-1.5), -1.5)

    def _row(self, part: Sequence[ColumnGroup], number: int) -> float:
        """The height of a store's row."""
        product, variant = self._names(number)
        high = self._high(product) + self._high(variant, -1.5)
        for group in part:
            for cell in group.rows[number]:
                if cell.rate is None or cell.grade is None:
                    high = max(high, self._high(*self._said(cell, self._columns[group.kind])))
        return max(self._size.row, high + 8)

    def _high(self, lines: Sequence[str], larger: float = 0) -> float:
        return len(lines) * (self._size.letters + larger) * _LINE_HEIGHT

    def _tall(self, part: Sequence[ColumnGroup]) -> float:
        return max(self._title_high(part) + max(map(self._headings_high, part)), 2.2 * self._size.row)

    def _title_high(self, part: Sequence[ColumnGroup]) -> float:
        return max(self._high(self._title(group)) for group in part) + 10

    def _headings_high(self, group: ColumnGroup) -> float:
        width = self._columns[group.kind]
        if width < _UPRIGHT:
            return max(width_of(heading, self._size.letters) for heading in group.headings) + 12
        return max(self._high(self._lines(heading, width - 6)) for heading in group.headings) + 10

    def _title(self, group: ColumnGroup) -> list[str]:
        """A narrow group has room for the last word."""
        span = self._span(group)
        return self._lines(group.title if span > 130 else group.title.split()[-1], span - _MARGIN, bold=True)

    def _part(self, top: float, groups: Sequence[ColumnGroup], numbers: Sequence[int]) -> float:
        first = top + self._tall(groups)
        tops = [first]
        for number in numbers:
            tops.append(tops[-1] + self._row(groups, number))
        left = self._stores
        for group in groups:
            self._group(left, top, group, numbers, tops, self._title_high(groups))
            left += self._span(group)
        for number, begin, end in zip(numbers, tops, tops[1:], strict=False):
            product, variant = self._names(number)
            at = (begin + end - self._high(product) - self._high(variant, -1.5)) / 2
            self._stacked(8, at, product, _INK, left=True, bold=True)
            self._stacked(8, at + self._high(product), variant, _DIM, left=True, larger=-1.5)
        for each in tops:
            self._axes.plot([0, left], [each] * 2, color=_LINE, linewidth=0.7, clip_on=False)
        return tops[-1]

    def _group(self, left: float, top: float, group: ColumnGroup, numbers: Sequence[int], tops: Sequence[float], title_high: float) -> None:
        width, span, tall = self._columns[group.kind], self._span(group), tops[0] - top
        self._rectangle((left, top), span, tall, facecolor="#f5f3ee", edgecolor=_LINE, linewidth=0.7)
        self._stacked(left + span / 2, top + 6, self._title(group), _INK, bold=True)
        largest = max((cell.rate.high for row in group.rows for cell in row if cell.rate), default=1.0)
        for column, heading in enumerate(group.headings):
            at = left + column * width
            middle = top + (title_high + tall) / 2
            if width < _UPRIGHT:
                self._text(at + width / 2, middle, heading, _INK, upright=True)
            else:
                lines = self._lines(heading, width - 6)
                self._stacked(at + width / 2, middle - self._high(lines) / 2, lines, _INK)
            for number, begin, end in zip(numbers, tops, tops[1:], strict=False):
                self._cell(at, begin, width, end - begin, group.rows[number][column], largest)

    def _cell(self, left: float, top: float, width: float, high: float, cell: AnswerCell, largest: float) -> None:
        size = self._size
        self._rectangle((left, top), width, high, facecolor=_FILLS[cell.tone], edgecolor=_LINE, linewidth=0.7)
        middle = top + high / 2
        if cell.rate is None or cell.grade is None:
            lines, larger = self._said(cell, width)
            self._stacked(left + width / 2, middle - self._high(lines, larger) / 2, lines, _TEXTS[cell.tone], larger=larger)
            return
        room = width - 16
        self._rectangle((left + 8, middle - 12), room * cell.rate.median / largest, 6, facecolor=_BAR, linewidth=0)
        ends = [left + 8 + room * value / largest for value in (cell.rate.low, cell.rate.high)]
        self._axes.plot(ends, [middle - 9] * 2, color=_INK, linewidth=1.6, solid_capstyle="butt", clip_on=False)
        text = cell.brief if size.narrow else cell.text
        letters = size.letters - 0.5
        letters *= min(1.0, (width - _BADGE - 2) / width_of(text, letters))  # in a narrow picture the column is as wide as it can be
        self._axes.text(left + width - _BADGE, middle + 7, text, color=_INK, fontsize=letters, ha="right", va="center")
        self._badge(left + width - _BADGE / 2, middle + 7, cell.grade)

    def _rectangle(self, corner: tuple[float, float], width: float, high: float, **look: Any) -> None:
        self._axes.add_patch(Rectangle(corner, width, high, clip_on=False, **look))

    def _badge(self, x: float, y: float, grade: Grade) -> None:
        """A letter on its colour, which is never alone."""
        box = {"boxstyle": "round,pad=0.18", "facecolor": _GRADES[grade], "edgecolor": "none"}
        self._axes.text(
            x, y, grade, color=_INK if grade in "CD" else "white", fontsize=self._size.letters - 2, fontweight="bold",
            ha="center", va="center", bbox=box,
        )  # fmt: skip

    def _stacked(
        self, x: float, top: float, lines: Sequence[str], colour: str, *, left: bool = False, bold: bool = False, larger: float = 0
    ) -> None:
        """Lines from the top down, each a text of its own: renderers place those of one text differently."""
        for number, line in enumerate(lines):
            y = top + (number + 0.5) * self._high([line], larger)
            self._text(x, y, line, colour, left=left, bold=bold, larger=larger)

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        colour: str,
        *,
        left: bool = False,
        bold: bool = False,
        larger: float = 0,
        upright: bool = False,
    ) -> None:
        self._axes.text(
            x, y, text, color=colour, fontsize=self._size.letters + larger, fontweight="bold" if bold else "normal",
            ha="left" if left else "center", va="center", rotation=90 if upright else 0,
        )  # fmt: skip


_UNSHOWN: Final = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>")
_LONG: Final = re.compile(r"\d+\.\d{3,}")
_RECTANGLE: Final = re.compile(r'd="M (\S+) (\S+) L (\S+) \2 L \3 (\S+) L \1 \4 z *"')
_UNTURNED: Final = re.compile(r' transform="rotate\(-?0 [^"]*\)"')
_PATH: Final = re.compile(r' d="[^"]*"')
_PLAIN_GROUP: Final = re.compile(r"<g>((?:(?!</?g\b).)*)</g>")


def compact(svg: str) -> str:
    """The same picture in about a third of the bytes, without a change that can be seen: published pictures are cloned by everyone.

    The library writes each style in full, seven digits of each coordinate, and a group with an id for each thing it draws. Styles become
    classes, so it stands in a file of its own, not within a page.
    """
    svg = re.sub(r"\s*\n\s*", " ", _UNSHOWN.sub("", svg)).strip()
    svg = svg.replace("> <", "><")
    used = set(re.findall(r"#([\w-]+)", svg))
    styles = dict[str, str]()

    def shorter(tag: re.Match[str]) -> str:
        text = re.sub(r' id="([^"]+)"', lambda name: name[0] if name[1] in used else "", tag[0])
        text = _LONG.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)
        text = re.sub(r' style="([^"]*)"', lambda style: f' class="{styles.setdefault(style[1], f"s{len(styles)}")}"', text)
        text = _RECTANGLE.sub(r'd="M\1 \2H\3V\4H\1z"', _UNTURNED.sub("", text))
        return _PATH.sub(lambda path: " d=" + re.sub(r" ?([A-Za-z\"]) ?", r"\1", path[0][3:]), text)

    svg = _TAG.sub(shorter, svg)
    rules = "".join(f".{name}{{{style}}}" for style, name in styles.items())
    svg = svg.replace("</style>", f"{rules}</style>", 1)
    while (fewer := _PLAIN_GROUP.sub(r"\1", svg)) != svg:
        svg = fewer
    return f"{svg}\n"
