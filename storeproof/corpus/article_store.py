"""Imports as many articles as a run needs from the dumps of `--corpus` into one article store."""

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
from storeproof.corpus.wikitext import WikitextReader
from storeproof.errors import UsageError

_NEWS: Final = 500
"""Articles between two progress messages."""


@dataclass(frozen=True)
class Imported:
    """The import of one dump, as results record it."""

    name: str
    """File name, without the directory."""
    language: str
    pages: int
    skipped_pages: int
    """Pages read and not imported: other namespaces, redirects, pages without text, and duplicates."""
    checksum: str
    """SHA-256 of the imported articles: runs with the same checksum used the same texts."""


def articles_of(dump: Dump) -> Iterator[tuple[Page, Article | None]]:
    """Each page with its article; None for pages outside the main namespace, redirects and pages without text."""
    reader = WikitextReader.of(dump.site)
    for page in dump.pages():
        if page.namespace != MAIN or page.redirect or page.text.lstrip()[:9].upper() == "#REDIRECT":
            yield page, None
            continue
        body, categories = reader.read(page.text)
        yield page, Article(page.title, body, dump.site.language, categories, page.published) if body else None


class Corpus:
    """The dumps of one run, and the temporary article store into which they are imported."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """Open each dump once, so that a wrong file is reported before any store is started.
        Raises `UsageError`: a file does not exist or is not a dump, a path is given twice, or mwparserfromhell is not installed."""
        self._paths = paths
        self.imported: list[Imported] = []
        self._directory: WorkDir | None = None
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise UsageError(f"--corpus {twice} is given twice; give each dump once")
        for path in paths:
            Dump(path).close()
        if paths:
            WikitextReader(frozenset(), frozenset()).read("")

    @property
    def article_store(self) -> Path | None:
        """Path of the article store; None before `fetch` and without dumps."""
        return self._directory.data / "articles" if self._directory else None

    def fetch(self, wanted: int, progress: Callable[[str], None]) -> None:
        """Import `wanted` articles, in equal shares from the dumps; all of a dump that has fewer. Only the first call has an effect.
        Raises `UsageError`: a dump is truncated, is damaged, or has no articles."""
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
        """Remove the article store. May be called repeatedly."""
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
