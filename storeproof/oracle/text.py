"""Text search without stemming, on which all text indexes agree (whole words, case-insensitive), and the order of texts in a language.

The order is a small part of the Unicode Collation Algorithm, in three levels (letter, accent, case). It covers what the cases use: the
letters A to Z with and without accents, and the additional letters of Swedish and Spanish.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import pairwise

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Kana and Han: written without spaces between words, so a word is searched for as a substring."""


def words_of(text: str) -> list[str]:
    """The words of a text in order, case-folded."""
    return _WORD.findall(text.casefold())


def _has(text: str, word: str) -> bool:
    return word in text.casefold() if _UNSPACED.search(word) else word in words_of(text)


def _phrase(text: str, wanted: str) -> bool:
    words, phrase = words_of(text), words_of(wanted)
    return any(words[start : start + len(phrase)] == phrase for start in range(len(words)))


def _nearly(word: str, other: str) -> bool:
    """Whether the Levenshtein distance is at most 1: one letter replaced, added or removed."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(word, 1):
        above = row
        row = [number]
        for place, ((diagonal, up), wanted) in enumerate(zip(pairwise(above), other, strict=True)):
            row.append(min(up + 1, row[place] + 1, diagonal + (letter != wanted)))
    return row[-1] <= 1


SEARCHING: Mapping[str, Callable[[str, str], bool]] = {
    "words": lambda text, wanted: all(_has(text, word) for word in words_of(wanted)),
    "any_word": lambda text, wanted: any(_has(text, word) for word in words_of(wanted)),
    "phrase": _phrase,
    "word_prefix": lambda text, wanted: any(word.startswith(wanted.casefold()) for word in words_of(text)),
    "fuzzy": lambda text, wanted: any(_nearly(word, wanted.casefold()) for word in words_of(text)),
}
"""For each operator: (stored text, operand) -> whether it matches."""


def relevance(text: str, wanted: str) -> int:
    """The number of occurrences of the words in the text."""
    looked_for = set(words_of(wanted))
    return sum(word in looked_for for word in words_of(text))


def highlighted(text: str, wanted: str) -> str:
    """The text, with each of the words between `<b>` and `</b>`."""
    looked_for = set(words_of(wanted))
    return _WORD.sub(lambda found: f"<b>{found[0]}</b>" if found[0].casefold() in looked_for else found[0], text)


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
