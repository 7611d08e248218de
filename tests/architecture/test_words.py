"""One word for one thing: the words that docs/GLOSSARY.md calls former, and phrases of a private dialect, are refused everywhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from storeproof.outcome import Outcome
from tests.architecture.installed import CHECKOUT

GLOSSARY = CHECKOUT / "docs" / "GLOSSARY.md"

ALLOWED = (
    "CHANGELOG.md",
    "docs/DECISIONS.md",
    "docs/GLOSSARY.md",
    "reports/",
    "storeproof/spec/older_formats.py",
    "tests/architecture/test_words.py",
    "tests/spec/test_older_formats.py",
)
"""They name the former words in order to read them, or to say what became of them."""

DIALECT = {
    "nobody": "no one, no client, or say who",
    "somebody": "someone, a user, another process",
    "anybody": "anyone",
    "whoever": "a client that, a store that",
    "anew": "again",
    "so many": "that many, a number of, N",
    "likest": "most similar",
    "ours, not the store's": "harness error",
}
"""Phrases that are no technical terms and no plain English, and what to write."""

_LINE_END = r"\n[ \t]*(?:#|//[/!]?|--|\*)? ?"
"""A phrase may go over the end of a line, with a comment's mark at the beginning of the next."""

FOLDERS = (".ci", "adapters", "docs", "native", "spec", "storeproof", "suites", "tests")
SUFFIXES = (".py", ".pyi", ".rs", ".md", ".yaml", ".yml", ".toml", ".j2", ".lua", ".css", ".js", ".txt", ".json", ".sh")


class Word(NamedTuple):
    """One row of the glossary."""

    word: str
    meaning: str
    names: tuple[str, ...]
    """Former names: refused as whole words, in this case."""
    phrases: tuple[str, ...]
    """Former phrases: refused in any case, except alone in quotes, as a name: the user `nobody`."""


def glossary(text: str) -> list[Word]:
    """The rows of the glossary's table."""
    words = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) >= 2 and cells[0] != "word":
            before = cells[2].removesuffix(" |") if len(cells) > 2 else ""
            words.append(Word(cells[0], cells[1], tuple(re.findall(r"`([^`]+)`", before)), tuple(re.findall("“([^”]+)”", before))))
    return words


@cache
def refused() -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds a refused word, and what to use in its place."""
    rows = glossary(GLOSSARY.read_text())
    names = {name: row.word for row in rows for name in row.names}
    phrases = {phrase.lower(): row.word for row in rows for phrase in row.phrases} | DIALECT
    found_names = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    gap = rf"(?: |{_LINE_END})"
    found_phrases = "|".join(re.escape(phrase).replace(r"\ ", gap) for phrase in sorted(phrases, key=len, reverse=True))
    in_quotes = rf"(?<=[`\"'])(?i:{found_phrases})[`\"']"
    pattern = re.compile(rf"(?<![A-Za-z0-9_-])(?:{found_names}|(?!{in_quotes})(?i:{found_phrases}))(?![A-Za-z0-9_-])")
    return pattern, names | phrases


def old_words(name: str, text: str) -> Iterator[str]:
    """Each refused word in a text, as `file:line: found ...; use ...`."""
    pattern, instead = refused()
    for match in pattern.finditer(text):
        found = re.sub(_LINE_END, " ", match[0])
        line = text.count("\n", 0, match.start()) + 1
        yield f"{name}:{line}: found `{found}`; use: {instead.get(found) or instead[found.lower()]}"


def files() -> list[str]:
    """The project's texts, without those that may use former words and those still to come."""
    paths = [*CHECKOUT.iterdir(), *(path for folder in FOLDERS for path in (CHECKOUT / folder).rglob("*"))]
    names = [
        path.relative_to(CHECKOUT).as_posix() for path in paths if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()
    ]
    return sorted(name for name in names if not name.startswith(ALLOWED) and "/target/" not in name)


def test_no_former_word_is_used() -> None:
    """Names and prose use the glossary's words; a former one is named with its file, its line and the word to use."""
    assert len(files()) > 100
    found = [each for name in files() for each in old_words(name, (CHECKOUT / name).read_text(errors="replace"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("store.lasting_reads", "x.py:1: found `lasting_reads`; use: durable read"),
        ("\n# Nobody waits", "x.py:2: found `Nobody`; use: no one, no client, or say who"),
        ("what so\n    # many ask", "x.py:1: found `so many`; use: that many, a number of, N"),
        ('"""Whoever reads."""', "x.py:1: found `Whoever`; use: a client that, a store that"),
        ("a stand-in for it", "x.py:1: found `stand-in`; use: stub"),
    ],
)
def test_a_former_word_is_found_in_names_and_in_prose(text: str, message: str) -> None:
    """A name as a whole word, a phrase in any case and over the end of a line, with the place and the word to use."""
    assert list(old_words("x.py", text)) == [message]


@pytest.mark.parametrize("text", ["durable_reads", "runs as `nobody`", "my_stamp_x", "anewton", "so  much", "trial and error"])
def test_parts_of_words_and_other_words_are_free(text: str) -> None:
    """A former name inside another name is another name, and a class's name is not refused as a common noun."""
    assert list(old_words("x.py", text)) == []


def test_the_glossary_has_each_word_once_in_order() -> None:
    """Alphabetical, each with a meaning; what was called something before is called one thing now."""
    rows = glossary(GLOSSARY.read_text())
    words = [row.word for row in rows]
    assert words == sorted(set(words), key=lambda word: word.replace("_", " ").lower())
    assert all(row.meaning.endswith((".", ".)")) for row in rows)
    former = [each for row in rows for each in (*row.names, *row.phrases)]
    assert len(former) == len(set(former))
    assert not set(former) & set(words)


def test_the_glossary_has_every_outcome() -> None:
    """Each outcome is a word of its own, and the row of `outcome` lists all of them."""
    rows = {row.word: row.meaning for row in glossary(GLOSSARY.read_text())}
    assert {each.value for each in Outcome} <= rows.keys()
    assert all(f"`{each.value}`" in rows["outcome"] for each in Outcome)
