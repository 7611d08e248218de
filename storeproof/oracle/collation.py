"""Sort keys for text in the order of a language: a small part of the Unicode Collation Algorithm, in three levels (letter, accent, case).

It covers what the cases use: the letters A to Z with and without accents, and the additional letters of Swedish and Spanish.
"""

from __future__ import annotations

import unicodedata

_Letter = tuple[str, int]
"""The primary weight of a letter: a base letter, and 0, or for an additional letter its rank among those sorted right after the base."""

_OF_THEIR_OWN: dict[str, dict[str, _Letter]] = {
    "sv": {"å": ("z", 1), "ä": ("z", 2), "ö": ("z", 3)},
    "es": {"ñ": ("n", 1)},
}
"""Letters with a primary weight of their own, by language; from the collation charts of CLDR."""


def weight(text: str, language: str, ignores_case: bool) -> tuple[list[_Letter], list[str], list[bool]]:
    """The sort key of a text: letters, accents, and whether each letter is a capital (all False if `ignores_case`)."""
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
