"""Word queries: words next to each other in the text of a property, with the options that say what counts as the same word.

Words are not stemmed here. A text is split into words in its language, which is that of the nearest `language` or `lang` beside it, and a
query in that of its options. In Japanese and Chinese each character is a word, so that what is looked for there is a phrase; in all others
a run of letters is one. The server splits by dictionaries.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from tests.stubs.marklogic import RestError

_WORD = re.compile(r"\w+")
_PATTERN = re.compile(r"[\w*?]+")
_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])\\w)+")
_OPTIONS = {
    *("case-sensitive", "case-insensitive", "diacritic-sensitive", "diacritic-insensitive"),
    *("punctuation-insensitive", "wildcarded", "unwildcarded", "unstemmed"),
}
_DEFAULT = "en"
"""The language of the database."""
_UNSPACED = {"ja", "zh", "zh_Hant"}
_TAGS = {"zh-hans": "zh", "zh-hant": "zh_Hant"}
"""How the languages of IETF tags are called here."""

Text = tuple[str, str]
"""A text and its language."""


class WordQuery:
    """One of several texts, in one property or anywhere."""

    def __init__(self, details: Mapping[str, Any], *, filtered: bool) -> None:
        given = set(details.get("term-option", []))
        languages = [each.partition("=")[2] for each in given if each.startswith("lang=")]
        options = {each for each in given if not each.startswith("lang=")}
        if unknown := {*details} - {"json-property", "text", "term-option"} or options - _OPTIONS:
            raise RestError(400, "SEARCH-BADQUERY", f"the stub does not know {', '.join(sorted(unknown))} of a word query")
        if len(languages) > 1:
            raise RestError(400, "SEARCH-BADQUERY", f"a word query is in one language; found {', '.join(sorted(languages))}")
        self._name = details.get("json-property")
        texts = details["text"] if isinstance(details["text"], list) else [details["text"]]
        self._wanted = [_Phrase(text, options, *languages) for text in texts]
        if not filtered and any(not phrase.exact for phrase in self._wanted):
            raise RestError(400, "SEARCH-BADQUERY", "the stub has no candidates: phrases and wildcards are `filtered`")

    def occurrences(self, document: Any) -> int:
        """How often one of the texts is in a document."""
        texts = _texts(document, self._name, inside=self._name is None)
        return sum(phrase.occurrences(text) for phrase in self._wanted for text in texts)


class _Phrase:
    def __init__(self, text: str, options: set[str], language: str = _DEFAULT) -> None:
        self._folds_case = "case-insensitive" in options or ("case-sensitive" not in options and text == text.casefold())
        self._folds_marks = "diacritic-insensitive" in options or ("diacritic-sensitive" not in options and text == _unmarked(text))
        self._wildcarded = "wildcarded" in options
        self._words = _PATTERN.findall(self._folded(text)) if self._wildcarded else _words(self._folded(text), language)
        self.exact = len(self._words) == 1 and not self._wildcarded

    def occurrences(self, text: Text) -> int:
        words, count = _words(self._folded(text[0]), text[1]), len(self._words)
        if not count:
            return 0
        return sum(all(map(self._same, words[at : at + count], self._words)) for at in range(len(words) - count + 1))

    def _same(self, word: str, wanted: str) -> bool:
        return fnmatch.fnmatchcase(word, wanted) if self._wildcarded else word == wanted

    def _folded(self, text: str) -> str:
        text = text.casefold() if self._folds_case else text
        return _unmarked(text) if self._folds_marks else text


def _words(text: str, language: str) -> list[str]:
    found: list[str] = (_CHARACTER if language in _UNSPACED else _WORD).findall(text)
    return found


def _unmarked(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


def _texts(value: Any, name: str | None, *, inside: bool, language: str = _DEFAULT) -> list[Text]:
    """The texts in all properties of a name, however deep, each with its language. `inside`: of all texts here."""
    if isinstance(value, str):
        return [(value, language)] if inside else []
    if isinstance(value, list):
        return [found for each in value for found in _texts(each, name, inside=inside, language=language)]
    if not isinstance(value, dict):
        return []
    said = value.get("lang", value.get("language"))
    own = _TAGS.get(said, said) if isinstance(said, str) else language
    return [found for key, each in value.items() for found in _texts(each, name, inside=inside or key == name, language=own)]
