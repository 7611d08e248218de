"""Articles by key: the key determines the text, so the text of a record that is read back can be checked."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol, Self
from zlib import crc32

from storeproof.contract.values import Key
from storeproof.spec.capability import Dataset
from storeproof.spec.loader import SPEC_ROOT
from storeproof.spec.reading.source import read

_TEXTS: Final = ("articles", "essays")
"""The datasets of the specification from which articles are generated."""
_SENTENCES: Final = (4, 12)
_CATEGORIES: Final = (1, 3)
_FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)
_YEAR: Final = 365 * 24 * 60 * 60


@dataclass(frozen=True)
class Article:
    """The text fields of a record."""

    title: str
    body: str
    language: str
    categories: list[str]
    published: str


class Articles(Protocol):
    """An endless supply of articles: there is a key for every number from 0."""

    name: str
    """The name of the corpus in results."""

    def key(self, number: int) -> str:
        """The key of article `number`."""

    def under(self, key: Key) -> Article | None:
        """The article of a key; None if there is none."""


class Generated:
    """Articles generated from the key alone, out of sentences of the specification's datasets; their languages alternate."""

    name = "generated"

    def __init__(self, texts: Iterable[Dataset]) -> None:
        self._sentences: dict[str, list[str]] = {}
        self._titles: dict[str, list[str]] = {}
        categories: dict[str, None] = {}
        for record in (record for each in texts for record in each.records.values()):
            language = record["language"]
            self._sentences.setdefault(language, []).extend(_sentences(record["body"]))
            self._titles.setdefault(language, []).append(record["title"])
            categories.update(dict.fromkeys(record["categories"]))
        self._languages = list(self._sentences)
        self._categories = list(categories)

    def key(self, number: int) -> str:
        """Language and number, such as `de:42`."""
        return f"{self._languages[number % len(self._languages)]}:{number}"

    def under(self, key: Key) -> Article:
        """The article of any key, in the language of its prefix, or else in one chosen by a hash of the key."""
        text = str(key)
        random = Random(text)
        language, _, number = text.partition(":")
        if language not in self._sentences:
            language = self._languages[crc32(text.encode()) % len(self._languages)]
        sentences = random.choices(self._sentences[language], k=random.randint(*_SENTENCES))
        return Article(
            title=f"{random.choice(self._titles[language])} {number or text}",
            body=" ".join(sentences),
            language=language,
            categories=random.sample(self._categories, random.randint(*_CATEGORIES)),
            published=(_FIRST + timedelta(seconds=random.randrange(_YEAR))).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )


class ArticleStoreWriter:
    """Writes the file that an `ArticleStore` reads. A context manager, which commits and closes the file."""

    def __init__(self, path: Path) -> None:
        self._link = sqlite3.connect(path, isolation_level=None)
        self._link.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE corpus (name TEXT NOT NULL);"
            "CREATE TABLE article (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, article TEXT NOT NULL); BEGIN"
        )
        self._count = 0

    def put(self, key: str, article: Article) -> str | None:
        """Add an article and return it as stored (JSON); None if the key exists."""
        kept = json.dumps(asdict(article), ensure_ascii=False)
        found = self._link.execute("INSERT INTO article VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (self._count, key, kept))
        self._count += found.rowcount
        return kept if found.rowcount else None

    def name(self, name: str) -> None:
        """Set the name of the corpus in results."""
        self._link.execute("INSERT INTO corpus VALUES (?)", (name,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_why: object) -> None:
        self._link.execute("COMMIT")
        self._link.close()


class ArticleStore:
    """Imported articles in one SQLite file, for random access by any number of threads and processes.

    After the last article they repeat under other keys: `en:12`, and in the second pass `en:12/1`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        (self.count,) = self._one("SELECT count(*) FROM article")
        (self.name,) = self._one("SELECT name FROM corpus")

    def key(self, number: int) -> str:
        """Language and page id in its wiki, such as `en:12`, with the number of the pass from the second on."""
        again, number = divmod(number, self.count)
        (key,) = self._one("SELECT key FROM article WHERE number = ?", number)
        return f"{key}/{again}" if again else str(key)

    def under(self, key: Key) -> Article | None:
        """The article that was imported under the key, whatever the pass."""
        found = self._one("SELECT article FROM article WHERE key = ?", str(key).partition("/")[0])
        return Article(**json.loads(found[0])) if found else None

    def _one(self, statement: str, *values: object) -> Any:
        link: sqlite3.Connection | None = getattr(self._local, "link", None)
        if link is None:
            link = self._local.link = sqlite3.connect(f"{self._path.as_uri()}?mode=ro&immutable=1", uri=True)
        return link.execute(statement, values).fetchone()


@cache
def articles(article_store: Path | None = None) -> Articles:
    """The articles of an article store, or generated ones without it."""
    return (
        ArticleStore(article_store)
        if article_store
        else Generated(read(SPEC_ROOT / "datasets" / f"{name}.yaml", Dataset) for name in _TEXTS)
    )


def _sentences(body: str) -> list[str]:
    """Split a text into sentences, with their punctuation. Chinese and Japanese have no space after it."""
    for mark in "。．":
        body = body.replace(mark, mark + " ")
    found, begun = [], ""
    for word in body.split():
        begun = f"{begun} {word}".lstrip()
        if word[-1] in ".。．!?؟":
            found.append(begun)
            begun = ""
    return [*found, begun] if begun else found
