"""Articles for records, by key, so that the text of a record that is read back is known."""

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
from storeproof.spec.dataset import Dataset
from storeproof.spec.loader import SPEC_ROOT
from storeproof.spec.reading.source import read

_TEXTS: Final = ("articles", "essays")
"""The data sets of the specification that generated articles are put together from."""
_SENTENCES: Final = (4, 12)
_CATEGORIES: Final = (1, 3)
_FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)
_YEAR: Final = 365 * 24 * 60 * 60


@dataclass(frozen=True)
class Article:
    """A page as a record has it."""

    title: str
    body: str
    language: str
    categories: list[str]
    published: str


class Articles(Protocol):
    """Texts without end: there is a key for every number."""

    name: str
    """What results call them."""

    def key(self, number: int) -> str:
        """The key of the article with a number."""

    def under(self, key: Key) -> Article | None:
        """The article of a key; None for a key that none has."""


class Generated:
    """Articles put together from the sentences of the specification's texts, of all its languages in turn, by nothing but their key."""

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
        """`de:42`."""
        return f"{self._languages[number % len(self._languages)]}:{number}"

    def under(self, key: Key) -> Article:
        """Every key has one; the languages are those of its beginning, if it has any."""
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
    """A file that articles are put into, for an `ArticleStore` to read; in a `with` statement, which ends it."""

    def __init__(self, path: Path) -> None:
        self._link = sqlite3.connect(path, isolation_level=None)
        self._link.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE corpus (name TEXT NOT NULL);"
            "CREATE TABLE article (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, article TEXT NOT NULL); BEGIN"
        )
        self._count = 0

    def put(self, key: str, article: Article) -> str | None:
        """Add one, and answer it as it is kept; None if its key is there already."""
        kept = json.dumps(asdict(article), ensure_ascii=False)
        found = self._link.execute("INSERT INTO article VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (self._count, key, kept))
        self._count += found.rowcount
        return kept if found.rowcount else None

    def name(self, name: str) -> None:
        """What results are to call it."""
        self._link.execute("INSERT INTO corpus VALUES (?)", (name,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_why: object) -> None:
        self._link.execute("COMMIT")
        self._link.close()


class ArticleStore:
    """Imported articles in one file, read in any order by any number of threads and processes, in little memory.

    Past the last one they begin again, under keys of their own: `en:12` and then `en:12/1`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        (self.count,) = self._one("SELECT count(*) FROM article")
        (self.name,) = self._one("SELECT name FROM corpus")

    def key(self, number: int) -> str:
        """`en:12`, the page's number in its wiki."""
        again, number = divmod(number, self.count)
        (key,) = self._one("SELECT key FROM article WHERE number = ?", number)
        return f"{key}/{again}" if again else str(key)

    def under(self, key: Key) -> Article | None:
        """The one that was imported under the key."""
        found = self._one("SELECT article FROM article WHERE key = ?", str(key).partition("/")[0])
        return Article(**json.loads(found[0])) if found else None

    def _one(self, statement: str, *values: object) -> Any:
        link: sqlite3.Connection | None = getattr(self._local, "link", None)
        if link is None:
            link = self._local.link = sqlite3.connect(f"{self._path.as_uri()}?mode=ro&immutable=1", uri=True)
        return link.execute(statement, values).fetchone()


@cache
def articles(article_store: Path | None = None) -> Articles:
    """Those of an article store, or generated ones."""
    return (
        ArticleStore(article_store)
        if article_store
        else Generated(read(SPEC_ROOT / "datasets" / f"{name}.yaml", Dataset) for name in _TEXTS)
    )


def _sentences(body: str) -> list[str]:
    """A text in its sentences, each with the mark at its end; Chinese and Japanese have no space behind it."""
    for mark in "。．":
        body = body.replace(mark, mark + " ")
    found, begun = [], ""
    for word in body.split():
        begun = f"{begun} {word}".lstrip()
        if word[-1] in ".。．!?؟":
            found.append(begun)
            begun = ""
    return [*found, begun] if begun else found
