"""Text search in PostgreSQL's words: tsvector and tsquery, and trigrams for words with a letter wrong.

* Of each text there are two vectors, in columns that the server computes: its words as they are written, and their stems in the language
  of the record, where PostgreSQL knows that. One index (GIN) has all of them.
* A request does not say what language it is in, and a stem means something in one language only: Italian takes the French "montagne" for
  a plural of its own. Letters tell Russian and Arabic; else it is the language of the server's default_text_search_config, which is there
  for that. A vector of stems has a mark of its language, and is asked for both.
* Words as they are written find what is no word to a stemmer: it leaves out those that are too frequent.
* Case is folded by ICU: the parser's own way depends on the database's locale, and folds ASCII letters only under "C".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from storeproof.adapters.postgresql.jsonb import literal, place
from storeproof.contract import Layout, Path, Unsupported
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Not, Operator, Or

CASELESS: Final = '"und-x-icu"'
"""Folds the case of all letters; under "C", and under many a database's own collation, that would be the ASCII ones."""

CONFIGURATIONS: Final = {
    "ar": "arabic",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
}
"""By language: what PostgreSQL has since version 12, of the languages that the specification has texts in."""

_SCRIPTS: Final = {"ru": re.compile("[\u0400-\u052f]"), "ar": re.compile("[\u0600-\u06ff]")}
"""Languages that their letters tell from the others."""

_NOT_SPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Kana and Han: scripts in which nothing is between two words."""

_GAP: Final = "$$'#':9$$::tsvector"
"""Words that are none: what stands before them and what comes after are not next to each other."""

_HEADLINE: Final = "'StartSel=<b>, StopSel=</b>, HighlightAll=true'"

Add = Callable[[Any], str]
"""What a statement has in place of a value."""


def lowered(text: str) -> str:
    return f"lower({text} COLLATE {CASELESS})"


def in_language(text: str, language: str, ignoring_case: bool) -> str:
    """Text that is sorted by ICU as in a language, whose tag is a part of a name; a server without it refuses."""
    return f'({lowered(text) if ignoring_case else text}) COLLATE "{language}-x-icu"'


def columns(layout: Layout) -> list[str]:
    """The definitions of the columns with the vectors."""
    found = []
    for number, path in enumerate(layout.model.text):
        text = lowered(place("doc", path, literal).text)
        stems = [
            f"WHEN '{tag}' THEN to_tsvector('pg_catalog.{name}', {text}) || '#{tag}'::tsvector" for tag, name in CONFIGURATIONS.items()
        ]
        # The first part of the language's tag: `en` of `en-gb`.
        by_language = f"CASE split_part({place('doc', layout.model.language, literal).text}, '-', 1) {' '.join(stems)} END"
        found += [_computed(f"words{number}", f"to_tsvector('pg_catalog.simple', {text})"), _computed(f"stems{number}", by_language)]
    return found


def indexes(layout: Layout, ours: bool) -> list[str]:
    """The index of the vectors, and, where the database has pg_trgm, that of the letters. Only a database of `ours` is given the extension:
    it is for all of a database, and another one's is not for us to change."""
    texts = [lowered(place("doc", path, literal).text) for path in layout.model.text]
    if not texts:
        return []
    vectors = ", ".join(f"words{number}, stems{number}" for number in range(len(texts)))
    letters = ", ".join(f"{text} gin_trgm_ops" for text in texts)
    available = "EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm')"
    extension = f"IF {available} THEN CREATE EXTENSION IF NOT EXISTS pg_trgm; END IF; EXCEPTION WHEN insufficient_privilege THEN NULL;"
    there = "EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))"
    by_letters = f'CREATE INDEX IF NOT EXISTS "{layout.name}_letters" ON "{layout.name}" USING gin ({letters})'
    return [
        f'CREATE INDEX IF NOT EXISTS "{layout.name}_text" ON "{layout.name}" USING gin ({vectors})',
        *([f"DO $do$ BEGIN {extension} END $do$"] if ours else []),
        f"DO $do$ BEGIN IF {there} THEN {by_letters}; END IF; END $do$",
    ]


def searched(layout: Layout, condition: Condition, add: Add) -> str:
    """What holds for a record that has what is looked for in one of the texts."""
    numbers = _numbers(layout, condition)
    if condition.operator == "fuzzy":
        pattern = f"{add(_one_letter_wrong(condition.value))}::text"
        return " OR ".join(f"{_lowered_text(layout, number)} ~ {pattern}" for number in numbers)
    if condition.operator != "words":
        return _in_one_of(numbers, *_asked(condition.operator, condition.value, add))
    # Each may be in another one of the texts, in another form. What has no letter is no word, and would not be found.
    words = [word for word in condition.value.split() if re.search(r"\w", word)] or [condition.value]
    return " AND ".join(f"({_in_one_of(numbers, *_asked('words', word, add))})" for word in words)


def rank(layout: Layout, condition: Filter | None, add: Add) -> str:
    """How well a record matches: more is better."""
    terms = []
    for search in _searches(condition):
        for number in _numbers(layout, search):
            if search.operator == "fuzzy":
                terms.append(f"word_similarity({add(search.value)}::text, {_lowered_text(layout, number)})")
                continue
            words, stems = _asked(_counting(search), search.value, add)
            terms.append(f"ts_rank(words{number}, {words})")
            if stems:
                terms.append(f"ts_rank(stems{number}, {stems.query})")
    if not terms:
        raise Unsupported("only what a text search finds can be ranked")
    return " + ".join(f"COALESCE({term}, 0)" for term in terms)


def vector(layout: Layout, document: str) -> str:
    """The words of all texts of a document, which is an expression of type jsonb. Between two texts no phrase goes on."""
    texts = [
        f"COALESCE(to_tsvector('pg_catalog.simple', {lowered(place(document, path, literal).text)}), '')" for path in layout.model.text
    ]
    return f" || {_GAP} || ".join(texts)


def stored(layout: Layout, condition: Filter | None, add: Add) -> str:
    """A search as one tsquery, for words as they are written: it is asked of a vector of all texts."""
    match condition:
        case And(parts=parts) if parts:
            return f"({' && '.join(stored(layout, part, add) for part in parts)})"
        case Or(parts=parts) if parts:
            return f"({' || '.join(stored(layout, part, add) for part in parts)})"
        case Not(part=part):
            return f"(!! {stored(layout, part, add)})"
        case Condition(operator=operator, value=value, path=()) if operator in SEARCHES and operator != "fuzzy":
            _numbers(layout, condition)
            return _asked(operator, value, add)[0]
    raise Unsupported("a stored tsquery contains only words, searched in all texts together")


def headline(layout: Layout, condition: Filter | None, path: Path, add: Add) -> str:
    """The text at the path with what was found in it between marks: words by their stems, or as they are written."""
    searches = [search for search in _searches(condition) if search.path in ((), path)]
    number = next((number for number, text in enumerate(layout.model.text) if text == path), None)
    if number is None or not searches or any(search.operator == "fuzzy" for search in searches):
        raise Unsupported(f"ts_headline highlights the matches of a tsquery, and there is none for the text at {list(path)}")
    text = place("doc", path, add).text
    asked = [_asked(_counting(search), search.value, add) for search in searches]
    as_written = f"ts_headline('pg_catalog.simple', {text}, {' || '.join(words for words, _ in asked)}, {_HEADLINE})"
    by_stems = [stems for _, stems in asked if stems]
    if not by_stems:
        return as_written
    query = " || ".join(f"COALESCE({stems.query}, '')" for stems in by_stems)
    stemmed = f"ts_headline({by_stems[0].configuration}, {text}, {query}, {_HEADLINE})"
    return f"CASE WHEN stems{number} @@ ({query}) THEN {stemmed} ELSE {as_written} END"


def _computed(name: str, expression: str) -> str:
    return f"{name} tsvector GENERATED ALWAYS AS ({expression}) STORED"


def _lowered_text(layout: Layout, number: int) -> str:
    """As the index of the letters has it."""
    return lowered(place("doc", layout.model.text[number], literal).text)


def _numbers(layout: Layout, condition: Condition) -> list[int]:
    """Which of the model's texts are asked."""
    numbers = [number for number, path in enumerate(layout.model.text) if condition.path in ((), path)]
    if not numbers:
        raise Unsupported(f"there is no text index at {list(condition.path)}: the model's `text` does not name it")
    if _NOT_SPACED.search(condition.value):
        raise Unsupported("PostgreSQL's parser splits words at spaces and punctuation, which this script does not have")
    return numbers


class _Stems(NamedTuple):
    """A query for stems in one language."""

    configuration: str
    query: str
    """NULL if the language has no stems here, or nothing is left of what is looked for."""


def _in_one_of(numbers: Sequence[int], words: str, stems: _Stems | None) -> str:
    found = [f"words{number} @@ {words}" for number in numbers]
    return " OR ".join([*found, *(f"stems{number} @@ {stems.query}" for number in numbers if stems)])


def _counting(search: Condition) -> Operator:
    """What counts for a rank, and is marked: every one of several words, though another one may be in another text."""
    return "any_word" if search.operator == "words" else search.operator


def _asked(operator: Operator, value: str, add: Add) -> tuple[str, _Stems | None]:
    """A query for words as they are written, and one for stems; none for beginnings, which stems do not have."""
    match operator:
        case "word_prefix":
            quoted = value.replace("\\", "\\\\").replace("'", "''")
            beginning = lowered(add(f"'{quoted}':*") + "::text")
            return f"to_tsquery('pg_catalog.simple', {beginning})", None
        case "any_word":
            words = value.replace('"', " ").split()
            function, wanted = "websearch_to_tsquery", " or ".join(f'"{word}"' for word in words)
        case _:
            function, wanted = {"words": "plainto_tsquery", "phrase": "phraseto_tsquery"}[operator], value
    text = lowered(f"{add(wanted)}::text")
    known = next((tag for tag, letters in _SCRIPTS.items() if letters.search(value)), None)
    if known:
        configuration, mark = f"'pg_catalog.{CONFIGURATIONS[known]}'::regconfig", f"'#{known}'"
    else:
        configuration = "get_current_ts_config()"
        marks = [f"WHEN 'pg_catalog.{name}'::regconfig THEN '#{tag}'" for tag, name in CONFIGURATIONS.items()]
        mark = f"CASE {configuration} {' '.join(marks)} END"
    stems = f"{function}({configuration}, {text})"
    # Where nothing is left of what is looked for, the mark alone would find all records.
    query = f"(CASE WHEN numnode({stems}) > 0 THEN {stems} && quote_literal({mark})::tsquery END)"
    return f"{function}('pg_catalog.simple', {text})", _Stems(configuration, query)


def _searches(condition: Filter | None) -> Iterator[Condition]:
    """What is looked for, apart from what must not be there."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _searches(part)
        case Condition(operator=operator) if operator in SEARCHES:
            yield condition


def _one_letter_wrong(word: str) -> str:
    """A regular expression, which is what a trigram index can look up, for all words that differ in one letter at most."""
    letters = [re.sub(r"(\W)", r"\\\1", letter) for letter in word.lower()]
    every = range(len(letters))
    missing_or_other = ["".join([*letters[:place], r"\w?", *letters[place + 1 :]]) for place in every]
    one_more = ["".join([*letters[:place], r"\w", *letters[place:]]) for place in (*every, len(letters))]
    return rf"\m(?:{'|'.join([*missing_or_other, *one_more])})\M"
