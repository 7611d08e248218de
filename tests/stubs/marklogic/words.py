"""Word queries: words next to each other in the text of a property, with the options that say what counts as the same word.

Words are not stemmed here, and every run of letters is one, which is right for no script without spaces.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from tests.stubs.marklogic import RestError

_WORD = re.compile(r"\w+")
_PATTERN = re.compile(r"[\w*?]+")
_OPTIONS = {
    *("case-sensitive", "case-insensitive", "diacritic-sensitive", "diacritic-insensitive"),
    *("punctuation-insensitive", "wildcarded", "unwildcarded"),
}


class WordQuery:
    """One of several texts, in one property or anywhere."""

    def __init__(self, details: Mapping[str, Any], *, filtered: bool) -> None:
        options = set(details.get("term-option", []))
        if unknown := {*details} - {"json-property", "text", "term-option"} or options - _OPTIONS:
            raise RestError(400, "SEARCH-BADQUERY", f"the stub does not know {', '.join(sorted(unknown))} of a word query")
        self._name = details.get("json-property")
        texts = details["text"] if isinstance(details["text"], list) else [details["text"]]
        self._wanted = [_Phrase(text, options) for text in texts]
        if not filtered and any(not phrase.exact for phrase in self._wanted):
            raise RestError(400, "SEARCH-BADQUERY", "the stub has no candidates: phrases and wildcards are `filtered`")

    def occurrences(self, document: Any) -> int:
        """How often one of the texts is in a document."""
        texts = _leaves(document) if self._name is None else [leaf for each in _named(document, self._name) for leaf in _leaves(each)]
        return sum(phrase.occurrences(text) for phrase in self._wanted for text in texts)


class _Phrase:
    def __init__(self, text: str, options: set[str]) -> None:
        self._folds_case = "case-insensitive" in options or ("case-sensitive" not in options and text == text.casefold())
        self._folds_marks = "diacritic-insensitive" in options or ("diacritic-sensitive" not in options and text == _unmarked(text))
        self._wildcarded = "wildcarded" in options
        self._words = (_PATTERN if self._wildcarded else _WORD).findall(self._folded(text))
        self.exact = len(self._words) == 1 and not self._wildcarded

    def occurrences(self, text: str) -> int:
        words, count = _WORD.findall(self._folded(text)), len(self._words)
        if not count:
            return 0
        return sum(all(map(self._same, words[at : at + count], self._words)) for at in range(len(words) - count + 1))

    def _same(self, word: str, wanted: str) -> bool:
        return fnmatch.fnmatchcase(word, wanted) if self._wildcarded else word == wanted

    def _folded(self, text: str) -> str:
        text = text.casefold() if self._folds_case else text
        return _unmarked(text) if self._folds_marks else text


def _unmarked(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


def _named(value: Any, name: str) -> list[Any]:
    """The values of all properties of a name, however deep."""
    if isinstance(value, list):
        return [found for each in value for found in _named(each, name)]
    if not isinstance(value, dict):
        return []
    return ([value[name]] if name in value else []) + [found for each in value.values() for found in _named(each, name)]


def _leaves(value: Any) -> Sequence[str]:
    if isinstance(value, (list, dict)):
        return [leaf for each in (value if isinstance(value, list) else value.values()) for leaf in _leaves(each)]
    return [value] if isinstance(value, str) else []
