"""Imports the dumps that the command line names into one article store, as many pages as a run needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.corpus.articles import Article, ArticleStoreWriter
from storeproof.corpus.dump import MAIN, Dump, Page
from storeproof.corpus.wikitext import Reader
from storeproof.errors import UsageError

_NEWS: Final = 500
"""Pages after which it is said how far the import is."""


@dataclass(frozen=True)
class Imported:
    """What was taken from one dump."""

    name: str
    """Of the file, without where it is."""
    language: str
    pages: int
    skipped_pages: int
    """Pages before the last one that are no articles: of other namespaces, redirects, and those without text."""
    checksum: str
    """SHA-256 over the articles as they are used: two runs with the same one had the same texts."""


def articles_of(dump: Dump) -> Iterator[tuple[Page, Article | None]]:
    """Every page with the article that it is, if it is one: of the main namespace, no redirect, and with text."""
    reader = Reader.of(dump.site)
    for page in dump.pages():
        if page.namespace != MAIN or page.redirect or page.text.lstrip()[:9].upper() == "#REDIRECT":
            yield page, None
            continue
        body, categories = reader.read(page.text)
        yield page, Article(page.title, body, dump.site.language, categories, page.published) if body else None


class Corpus:
    """The dumps of one run, and the article store that they are imported into."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """Looks into each: what is no dump is told before anything is started.

        Raises:
            UsageError: one is not there, is no dump, or two are the same file.
        """
        self._paths = paths
        self.imported: list[Imported] = []
        self._directory: WorkDir | None = None
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise UsageError(f"--corpus {twice} is given twice; give each dump once")
        for path in paths:
            Dump(path).close()
        if paths:
            Reader(frozenset(), frozenset()).read("")

    @property
    def article_store(self) -> Path | None:
        """What was imported; None without dumps."""
        return self._directory.data / "articles" if self._directory else None

    def fetch(self, wanted: int, progress: Callable[[str], None]) -> None:
        """Import `wanted` articles, each dump its share, unless that is done; fewer where a dump has fewer.

        Raises:
            UsageError: a dump ends early, is damaged, or has no article.
        """
        if not self._paths or self._directory:
            return
        registry.add(self)
        self._directory = WorkDir.make(default_base(), keep=False)
        assert self.article_store is not None
        with ArticleStoreWriter(self.article_store) as writer:
            for path in self._paths:
                self.imported.append(_take(path, writer, -(-wanted // len(self._paths)), progress))
            writer.name(" + ".join(f"{each.name} ({each.pages} pages, {each.checksum[:12]})" for each in self.imported))

    def close(self) -> None:
        """Remove the article store; a second time is fine."""
        if self._directory:
            self._directory.remove()
        self._directory = None
        registry.discard(self)


def _take(path: Path, writer: ArticleStoreWriter, wanted: int, progress: Callable[[str], None]) -> Imported:
    dump = Dump(path)
    taken = passed = 0
    digest = hashlib.sha256()
    for page, article in articles_of(dump):
        kept = article and writer.put(f"{dump.site.language}:{page.number}", article)
        if not kept:
            passed += 1
            continue
        digest.update(kept.encode())
        taken += 1
        if taken % _NEWS == 0:
            progress(f"{path.name}: {taken:,} of {wanted:,} articles imported")
        if taken == wanted:
            break
    dump.close()
    if not taken:
        raise UsageError(f"--corpus {path} has no article: {passed} pages of other namespaces, redirects and pages without text")
    return Imported(path.name, dump.site.language, taken, passed, digest.hexdigest())
