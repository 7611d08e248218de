"""Text search in MongoDB's words: `$text`.

* A collection has one text index, with all texts of the model in it, and `$text` asks all of it: one path alone cannot be asked.
* It is made without a language (`none`), for words as they are written, whatever their case and marks. Texts could each be
  stemmed in their own language; but a search is in one language, and would no longer find words of texts in the others.
* One `$text` finds records with one of several words, or with all of several texts as they are written, and without some words. A
  request has one; where all of several must hold, each is searched for in a pipeline of its own, and `$group` keeps what came out of all
  of them.
* What MongoDB calls a phrase is a part of the text as it is written, which begins and ends anywhere in a word. So the index finds the
  records with all of the words, and a regular expression those that have them next to each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from storeproof.adapters.mongodb.filter import Stages, matching
from storeproof.contract import Layout, Path, Unsupported
from storeproof.spec.query import SEARCHES, Condition, Filter, Not, Or, conjuncts

LANGUAGE: Final = "_language"
"""Where the index looks for a text's own language, which no record has: the default, `language`, is a field of ours."""

SCORE: Final = "score"

_NOT_SPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Kana and Han: scripts in which nothing is between two words."""


_WORD: Final = r"\p{L}\p{M}\p{N}\p{Cf}_"
"""What words are made of, in a regular expression."""


def text_index(layout: Layout) -> list[tuple[str, str]]:
    """The keys of the text index, if the model has texts."""
    return [("d." + ".".join(path), "text") for path in layout.model.text]


def narrowed(condition: Filter | None, layout: Layout, ranked: bool = False) -> Stages:
    """The stages that come first: to the records that are in the filter, with `score` if they are to be ranked."""
    searches, rest = _parted(condition, layout.model.text)
    if ranked and not searches:
        raise Unsupported("only what a text search finds can be ranked")
    scored: Stages = [{"$set": {SCORE: {"$meta": "textScore"}}}] if ranked else []
    if len(searches) < 2:
        return [{"$match": _with_search(searches, rest)}, *scored]
    others = [
        {"$unionWith": {"coll": layout.name, "pipeline": [{"$match": _with_search([each], ())}, *scored, {"$project": {SCORE: 1}}]}}
        for each in searches[1:]
    ]
    in_all = {"_id": "$_id", "d": {"$max": "$d"}, "n": {"$sum": 1}, **({SCORE: {"$sum": "$" + SCORE}} if ranked else {})}
    # The others come without `d`. What is in every search but not in the rest of the filter is in one answer less.
    return [{"$match": _with_search(searches[:1], rest)}, *scored, *others, {"$group": in_all}, {"$match": {"n": len(searches)}}]


def selected(condition: Filter | None, layout: Layout) -> dict[str, Any]:
    """The match document, for requests that have no pipeline. Raises `Unsupported`: it takes more than one search."""
    searches, rest = _parted(condition, layout.model.text)
    if len(searches) > 1:
        raise Unsupported("one $text cannot require several words, and a write cannot use a pipeline")
    return _with_search(searches, rest)


def _with_search(searches: list[str], rest: Iterable[Filter]) -> dict[str, Any]:
    texts = [{"$text": {"$search": search, "$language": "none"}} for search in searches[:1]]
    every = [*texts, *map(matching, rest)]
    return {"$and": every} if len(every) > 1 else every[0] if every else {}


def _parted(condition: Filter | None, texts: tuple[tuple[str, ...], ...]) -> tuple[list[str], list[Filter]]:
    """What is searched for, all of which must be found; and what else must hold."""
    wanted: list[str] = []
    unwanted: list[str] = []
    rest: list[Filter] = []
    for part in conjuncts(condition):
        if phrase := _next_to_each_other(part, texts):
            rest.append(phrase)
        if isinstance(part, Not) and phrase:
            continue
        if isinstance(part, Not) and _is_search(part.part):
            unwanted += _negative(part.part, texts)
        elif _is_search(part):
            wanted += _searches(part, texts)
        else:
            rest.append(part)
    if unwanted and not wanted:
        raise Unsupported("$text finds records with the words; it cannot find all records without them")
    if unwanted:
        wanted[0] = " ".join([wanted[0], *unwanted])
    return wanted, rest


def _is_search(condition: Filter) -> bool:
    match condition:
        case Or(parts=parts):
            return bool(parts) and all(map(_is_search, parts))
        case Condition(operator=operator):
            return operator in SEARCHES
    return False


def _searches(condition: Filter, texts: tuple[tuple[str, ...], ...]) -> list[str]:
    """The search strings of which all must be found."""
    if isinstance(condition, Or):
        alternatives = [_searches(part, texts) for part in condition.parts]
        if any(len(each) > 1 or '"' in each[0] for each in alternatives):
            raise Unsupported("in $text only single words can be alternatives")
        return [" ".join(each[0] for each in alternatives)]
    assert isinstance(condition, Condition)
    words = _words(condition, texts)
    if condition.operator == "words":
        return list(dict.fromkeys(words))
    return [" ".join(words if condition.operator == "any_word" or len(words) == 1 else [f'"{word}"' for word in words])]


def _next_to_each_other(part: Filter, texts: tuple[tuple[str, ...], ...]) -> Filter | None:
    """For a phrase of several words, or for what has none: the regular expression that one of the texts must match, or none may."""
    if isinstance(part, Not):
        inner = _next_to_each_other(part.part, texts)
        return inner and Not.model_construct(part=inner)
    if not isinstance(part, Condition) or part.operator != "phrase" or len(words := _words(part, texts)) < 2:
        return None
    written = f"(?i)(^|[^{_WORD}]){f'[^{_WORD}]+'.join(map(re.escape, words))}([^{_WORD}]|$)"
    return Or.model_construct(parts=tuple(Condition(path=path, operator="regex", value=written) for path in texts))


def _negative(condition: Filter, texts: tuple[tuple[str, ...], ...]) -> list[str]:
    """What a search string ends with, so that none of it is found."""
    searches = _searches(condition, texts)
    if len(searches) > 1:
        raise Unsupported("a negated $text excludes records with any of the words, not those with all of them")
    return ["-" + searches[0]] if '"' in searches[0] else ["-" + word for word in searches[0].split()]


def _words(condition: Condition, texts: tuple[tuple[str, ...], ...]) -> list[str]:
    """The words, as the index parts them: at spaces and marks, which are MongoDB's signs in a search string too."""
    if condition.operator not in ("words", "any_word", "phrase"):
        raise Unsupported(f"$text finds whole words and phrases; it has no `{condition.operator}`")
    _asks_all(condition.path, texts)
    if _NOT_SPACED.search(condition.value):
        raise Unsupported("MongoDB's text index splits words at spaces and punctuation, which this script does not have")
    words = "".join(char if _in_a_word(char) else " " for char in condition.value).split()
    if not words:
        raise Unsupported("$text needs at least one word")
    return words


def _in_a_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LNM" or category == "Cf" or char == "_"


def _asks_all(path: Path, texts: tuple[tuple[str, ...], ...]) -> None:
    if not texts:
        raise Unsupported("the model has no texts, so the collection has no text index")
    if path and texts != (path,):
        raise Unsupported("a collection has one text index, and $text searches all of its fields, not one")
