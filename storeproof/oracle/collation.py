"""The order of words in a language, as the Unicode collation algorithm has it: letters, then their marks, then their case.

A small table, for what the cases ask: the letters A to Z with marks, and those that are letters of their own in Swedish and Spanish.
"""

from __future__ import annotations

import unicodedata

_Letter = tuple[str, int]
"""The letter that it stands at, and its place among those behind that one."""

_OF_THEIR_OWN: dict[str, dict[str, _Letter]] = {
    "sv": {"å": ("z", 1), "ä": ("z", 2), "ö": ("z", 3)},
    "es": {"ñ": ("n", 1)},
}
"""From the collation charts of CLDR."""


def weight(text: str, language: str, ignores_case: bool) -> tuple[list[_Letter], list[str], list[bool]]:
    """What stands for a text in the order of a language."""
    own = _OF_THEIR_OWN.get(language, {})
    letters: list[_Letter] = []
    marks: list[str] = []
    capitals: list[bool] = []
    for char in unicodedata.normalize("NFC", text):
        small = char.lower()
        base, *rest = list(unicodedata.normalize("NFD", small))
        letters.append(own.get(small, (base, 0)))
        marks.append("" if small in own else "".join(rest))
        capitals.append(char != small and not ignores_case)
    return letters, marks, capitals
