"""How much room letters take in a picture. An SVG names fonts and has none, so another machine may draw its letters with wider ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

DPI: Final = 100
"""Pixels per inch of the layout, whose unit is a pixel; a PNG has more."""
FONTS: Final = ("DejaVu Sans", "Verdana", "Arial")
"""The first is among the widest that browsers use, and matplotlib brings it along."""
_SPARE: Final = 1.04
"""Verdana's bold letters are so much wider."""


@cache
def width_of(text: str, points: float, *, bold: bool = False) -> float:
    """Pixels of a line, as wide as it may become."""
    font = FontProperties(family=FONTS[0], size=points, weight="bold" if bold else "normal")
    found: float = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    return found * DPI / 72 * _SPARE


def wrapped(text: str, room: float, points: float, *, bold: bool = False) -> list[str]:
    """Lines of at most that many pixels, broken at line breaks and spaces, and at hyphens where a word alone is longer; no other word is
    broken."""

    def fits(line: str) -> bool:
        return width_of(line, points, bold=bold) <= room

    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for word in part.split(" "):
            joined = f"{line} {word}" if line else word
            if fits(joined):
                line = joined
                continue
            if line:
                lines.append(line)
            *full, line = [word] if fits(word) else _at_hyphens(word, fits)
            lines += full
        lines.append(line)
    return lines


def _at_hyphens(word: str, fits: Callable[[str], bool]) -> Sequence[str]:
    """As many syllables to a line as fit, each line but the last with its hyphen."""
    *begun, last = word.split("-")
    lines = [""]
    for piece in (*(f"{each}-" for each in begun), last):
        if lines[-1] and not fits(lines[-1] + piece):
            lines.append("")
        lines[-1] += piece
    return lines
