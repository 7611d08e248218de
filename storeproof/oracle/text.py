"""The results of a text search on which every text index agrees: words as they are written, case-insensitive."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Kana and Han: written without spaces, so that a word is looked for inside of what stands between marks."""


def words_of(text: str) -> list[str]:
    """The words in their order."""
    return _WORD.findall(text.casefold())


def _has(text: str, word: str) -> bool:
    return word in text.casefold() if _UNSPACED.search(word) else word in words_of(text)


def _phrase(text: str, wanted: str) -> bool:
    words, phrase = words_of(text), words_of(wanted)
    return any(words[start : start + len(phrase)] == phrase for start in range(len(words)))


def _nearly(word: str, other: str) -> bool:
    """Equal but for one letter that is another, too many or too few: a Levenshtein distance of one at most."""
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
"""By operator: (text, what is looked for) -> whether it is found."""


def relevance(text: str, wanted: str) -> int:
    """How often the words are in the text."""
    looked_for = set(words_of(wanted))
    return sum(word in looked_for for word in words_of(text))


def highlighted(text: str, wanted: str) -> str:
    """The text with the words that were looked for between <b> and </b>."""
    looked_for = set(words_of(wanted))
    return _WORD.sub(lambda found: f"<b>{found[0]}</b>" if found[0].casefold() in looked_for else found[0], text)
