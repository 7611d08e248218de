"""Text search without stemming, on which all text indexes agree: whole words, case-insensitive."""

from __future__ import annotations

import re
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
