"""Conditions on words as MarkLogic's word queries, which need no index of ours: the universal index has every word.

A word query knows a property by its name and not by its path; so the names of a model's texts have to be its own, and stand
once in its shape. Case and marks are said to be left out, since MarkLogic otherwise decides by how the words are written; words are looked
for as they are written (`unstemmed`), which finds them in texts of every language.

In which language a text is split into words, its document says by a property `language` or `lang`, which MarkLogic reserves for that, and
a query by its term options. That matters where nothing is between the words: such a query asks once in each language that writes so.

What the indexes alone answer exactly is a query of single words. For a phrase or a wildcard they answer with candidates, which
the server then looks through (`filtered`): right for the records that are found, but their total, facets and opposite are
those of the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from storeproof.contract import Path, Unsupported
from storeproof.spec import model as shapes
from storeproof.spec.query import And, Condition, Filter, Not, Or

OPERATORS: Final = frozenset({"words", "any_word", "phrase", "word_prefix", "fuzzy"})

_LOOSE: Final = ("case-insensitive", "diacritic-insensitive", "punctuation-insensitive", "unstemmed")
_PLAIN: Final = re.compile(r"[A-Za-z0-9]+")
"""One word in every language that MarkLogic knows."""
_KANA: Final = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
"""The Japanese syllables."""
_HAN: Final = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Chinese characters, in which Japanese is written too."""
_UNSPLIT: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese, Khmer: no language of MarkLogic splits them into words."""
_JAPANESE: Final = "ja"
_CHINESE: Final = ("zh", "zh_Hant")
"""Simplified and traditional, as MarkLogic calls them."""


class Words:
    """The texts of one model."""

    def __init__(self, model: shapes.Model) -> None:
        self._paths: Sequence[Path] = model.text
        self._names = _names(getattr(model.record, "shape", None))

    def query(self, wanted: Condition) -> dict[str, Any]:
        """The structured query of a condition on words.
        Raises `Unsupported`: the path is not a text path of the model, or the server could not be asked that exactly."""
        properties = [self._property(path) for path in ([wanted.path] if wanted.path else self._paths)]
        text: str = wanted.value
        if wanted.operator == "fuzzy":
            raise Unsupported("a word query has no fuzzy matching; only code inside the server has it")
        if _UNSPLIT.search(text):
            raise Unsupported("MarkLogic has no language that splits texts of this script, without spaces, into words")
        if wanted.operator == "phrase":
            return _in_one(properties, [text], "unwildcarded")
        if wanted.operator == "word_prefix":
            if re.search(r"[*?\s]", text) or _languages(text):
                raise Unsupported(f"{text!r} is not a word prefix that a wildcard can follow")
            return _in_one(properties, [f"{text}*"], "wildcarded")
        words = text.split()
        if wanted.operator == "any_word":
            return _in_one(properties, words, "unwildcarded")
        return {"and-query": {"queries": [_in_one(properties, [word], "unwildcarded") for word in words]}}

    def _property(self, path: Path) -> str:
        if path not in self._paths:
            raise Unsupported(f"{'.'.join(map(str, path))} is not a text path of the model")
        name = str(path[-1])
        if self._names.count(name) != 1:
            raise Unsupported(f"a word query finds a property by its name, and several are called {name}")
        return name


def by_index_alone(wanted: Filter | None, *, inside_not: bool = False) -> bool:
    """Whether the indexes answer a filter exactly, so that its total is exact too.
    Raises `Unsupported`: the opposite is wanted of something that they do not: what they leave out no look brings back."""
    match wanted:
        case And(parts=parts) | Or(parts=parts):
            exact = [by_index_alone(part, inside_not=inside_not) for part in parts]  # each is asked: any of them may raise
            return all(exact)
        case Not(part=part):
            return by_index_alone(part, inside_not=True)
        case Condition(operator=operator, value=value) if operator in OPERATORS:
            words = value.split()
            simple = all(map(_PLAIN.fullmatch, words)) and operator != "word_prefix" and (operator != "phrase" or len(words) == 1)
            if inside_not and not simple:
                raise Unsupported(f"the opposite of `{operator}` is not exact in the indexes")
            return simple
    return True


def _in_one(properties: Sequence[str], texts: Sequence[str], wildcards: str) -> dict[str, Any]:
    """One of the properties has one of the texts; words of one text stand next to each other."""
    languages: dict[tuple[str, ...], list[str]] = {}
    for text in texts:
        languages.setdefault(_languages(text), []).append(text)
    queries = [
        {"word-query": {"json-property": name, "text": list(alike), "term-option": [*_LOOSE, wildcards, *language]}}
        for name in properties
        for found, alike in languages.items()
        for language in ([[f"lang={each}"] for each in found] or [[]])
    ]
    return queries[0] if len(queries) == 1 else {"or-query": {"queries": queries}}


def _languages(text: str) -> tuple[str, ...]:
    """The languages in which a text without spaces may be one of several words; none for a text that spaces split.

    The same characters are words of several languages: what is asked does not say which.
    """
    if _KANA.search(text):
        return (_JAPANESE,)
    return (_JAPANESE, *_CHINESE) if _HAN.search(text) else ()


def _names(shape: Any) -> list[str]:
    """The names of all fields, as often as they stand in a shape."""
    if isinstance(shape, shapes.List):
        return _names(shape.of)
    if not isinstance(shape, shapes.Object):
        return []
    return [found for name, inner in shape.object.items() for found in (name, *_names(inner))]
