"""Reads a MediaWiki XML export page by page, in constant memory.

It uses expat directly: an element tree, even if pruned, keeps something of every page it has read (mwxml 0.3: 85 bytes per page,
1.7 GB for the English Wikipedia). Exports have no document type; a file that has one is refused before any entity is expanded.
"""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final
from xml.parsers import expat

from storeproof.errors import UsageError
from storeproof.regular_file import Unreadable, open_regular

CHUNK: Final = 1 << 16
"""Bytes per read, after decompression."""
LARGEST: Final = 1 << 24
"""Maximum characters of one element, to bound memory; far beyond what MediaWiki stores ($wgMaxArticleSize is 2 MiB)."""
DEEPEST: Final = 32
"""Maximum depth of nested elements."""
LONGEST_TAG: Final = 1 << 20
"""Maximum bytes of a tag with its attributes, or of a comment: the parser buffers it until its end."""
_MOST_NAMESPACES: Final = 10_000
MAIN: Final = 0
FILES: Final = 6
CATEGORIES: Final = 14
"""Namespace numbers, the same in every wiki."""

_PACKED: Final = {b"BZh": "bz2", b"\x1f\x8b": "gz"}
_FORMS: Final = "allowed: a MediaWiki export as .xml, .xml.bz2 or .xml.gz, as dumps.wikimedia.org has them (...-pages-articles.xml.bz2)"
_TEXTS: Final = frozenset(
    {
        ("siteinfo", "dbname"),
        ("namespaces", "namespace"),
        ("page", "title"),
        ("page", "ns"),
        ("page", "id"),
        ("revision", "timestamp"),
        ("revision", "text"),
    }
)
"""(parent, element) whose text is kept; all others are skipped."""


@dataclass(frozen=True)
class Site:
    """The wiki, from `<siteinfo>`."""

    language: str
    """IETF language tag in lower case; `und` if unknown."""
    namespaces: dict[int, str]
    """Namespace names by number; that of the main namespace is empty."""

    def names(self, number: int, *also: str) -> frozenset[str]:
        """Case-folded names of a namespace in links: the local name, and `also`, the English ones that every wiki accepts."""
        return frozenset(name.casefold() for name in (self.namespaces.get(number, ""), *also) if name)


@dataclass(frozen=True)
class Page:
    """A page in the last revision of the export."""

    number: int
    namespace: int
    title: str
    redirect: bool
    published: str
    """Time of the revision: `2026-11-21T10:00:00Z`."""
    text: str
    """Wikitext."""


@dataclass
class _Reading:
    """The expat handlers, and the state of parsing."""

    path: Path
    open: list[str] = field(default_factory=list)
    site: Site | None = None
    pages: list[Page] = field(default_factory=list)
    ended: bool = False
    _language: str = ""
    _database: str = ""
    _namespaces: dict[int, str] = field(default_factory=dict)
    _space: int = 0
    _page: dict[str, str] = field(default_factory=dict)
    _revision: dict[str, str] = field(default_factory=dict)
    _redirect: bool = False
    _text: list[str] | None = None
    _length: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.open:
            if name != "mediawiki":
                raise _wrong(self.path, f"is XML, but not a MediaWiki export: its root is <{name}>")
            self._language = attributes.get("xml:lang", "")
        parent = self.open[-1] if self.open else ""
        self.open.append(name)
        if len(self.open) > DEEPEST:
            raise _wrong(self.path, f"has elements more than {DEEPEST} levels deep, and MediaWiki writes five")
        if name == "page":
            self._page, self._revision, self._redirect = {}, {}, False
        elif name == "redirect" and parent == "page":
            self._redirect = True
        elif name == "namespace":
            self._space = _whole(attributes.get("key", "")) or MAIN
        self._text = [] if (parent, name) in _TEXTS else None
        self._length = 0

    def characters(self, text: str) -> None:
        if self._text is None:
            return
        self._length += len(text)
        if self._length > LARGEST:
            raise _wrong(self.path, f"has a <{self.open[-1]}> of more than {LARGEST:,} characters, and no page of MediaWiki is that long")
        self._text.append(text)

    def end(self, name: str) -> None:
        self.open.pop()
        if self._text is not None:
            self._keep(self.open[-1], name, "".join(self._text))
            self._text = None
        elif name == "siteinfo":
            language = self._language or re.sub(r"wiki.*", "", self._database).replace("_", "-")
            self.site = Site(language.lower() or "und", self._namespaces)
        elif name == "page":
            self._take()
        self.ended = not self.open

    def doctype(self, *_declared: object) -> None:
        raise _wrong(
            self.path,
            "has a document type (<!DOCTYPE ...>), which no MediaWiki export has; it is rejected because entities can expand without limit",
        )

    def _keep(self, parent: str, name: str, text: str) -> None:
        if parent == "revision":
            self._revision[name] = text  # of several revisions, the last is kept
        elif parent == "page":
            self._page[name] = text
        elif name == "namespace":
            self._namespaces[self._space] = text
            if len(self._namespaces) > _MOST_NAMESPACES:
                raise _wrong(self.path, f"names more than {_MOST_NAMESPACES:,} namespaces, more than any wiki has")
        else:
            self._database = text

    def _take(self) -> None:
        page, revision = self._page, self._revision
        if self.site is None:
            raise _wrong(self.path, "has no <siteinfo> before its first page; it is needed for the language and the namespaces")
        identity = _whole(page.get("id", ""))
        if identity is None or "title" not in page:
            raise _wrong(self.path, "has a page without a number or a title")
        if "timestamp" not in revision:
            return  # all revisions of the page are hidden
        space = _whole(page.get("ns", ""))
        number = self._space_of(page["title"]) if space is None else space
        text = revision.get("text", "")
        self.pages.append(Page(identity, number, page["title"], self._redirect, revision["timestamp"], text))

    def _space_of(self, title: str) -> int:
        """The namespace from the title: exports before version 0.6 have no `<ns>`."""
        name, colon, _ = title.partition(":")
        return next((number for number, each in self._namespaces.items() if colon and each == name), MAIN)


class Dump:
    """One export. Opening it reads the `<siteinfo>`, so that a wrong file fails at once.

    Raises:
        UsageError: the file does not exist, has an unsupported compression, or is not a MediaWiki export.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found = _Reading(path)
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._found.start
        self._parser.EndElementHandler = self._found.end
        self._parser.CharacterDataHandler = self._found.characters
        self._parser.StartDoctypeDeclHandler = self._found.doctype
        self._given = 0
        """Bytes passed to the parser."""
        self._source = _opened(path)
        try:
            while self._found.site is None and self._more():
                pass
        except BaseException:
            self.close()
            raise
        if self._found.site is None:
            self.close()
            raise _wrong(path, "has neither a <siteinfo> nor a page")
        self.site = self._found.site

    def pages(self) -> Iterator[Page]:
        """The pages of all namespaces, in file order. Can be iterated once. Raises `UsageError`: the file is truncated or damaged."""
        with closing(self):
            while True:
                ready, self._found.pages = self._found.pages, []
                yield from ready
                if not self._more():
                    return

    def close(self) -> None:
        self._source.close()

    def _more(self) -> bool:
        """Read and parse one chunk; False at the end of the file."""
        if self._found.ended:
            return False
        try:
            part = self._source.read(CHUNK)
        except EOFError:
            raise _cut(self.path) from None
        except (OSError, zlib.error) as reason:
            raise _wrong(self.path, f"cannot be unpacked: {reason}; download it again and compare its checksum") from None
        if not part and not self._found.open:
            raise _wrong(self.path, "is empty")
        if not part:
            raise _cut(self.path)
        try:
            self._parser.Parse(part, False)
        except expat.ExpatError as reason:
            raise _wrong(self.path, f"is not XML: {reason}") from None
        self._given += len(part)
        if self._given - self._parser.CurrentByteIndex > LONGEST_TAG:
            raise _wrong(self.path, f"has a tag or a comment of more than {LONGEST_TAG:,} bytes")
        return True


def _opened(path: Path) -> BinaryIO | bz2.BZ2File | gzip.GzipFile:
    """Open the file, decompressed according to its first bytes."""
    try:
        with open_regular(path) as file:
            head = file.read(8)
    except Unreadable as reason:
        raise _wrong(path, str(reason)) from None
    except OSError as reason:
        raise _wrong(path, f"cannot be read: {reason.strerror}") from None
    packed = next((form for magic, form in _PACKED.items() if head.startswith(magic)), "xml")
    named = path.suffix.lstrip(".").lower()
    if named in (*_PACKED.values(), "7z", "zst") and named != packed:
        raise _wrong(path, f"has the suffix .{named}, but begins with {head[:4]!r}" if head else "is empty")
    if packed == "bz2":
        return bz2.open(path)
    return gzip.open(path) if packed == "gz" else path.open("rb")


def _whole(text: str) -> int | None:
    """Parse an integer of at most 18 digits, as MediaWiki has them; None for anything else."""
    return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else None


def _wrong(path: Path, what: str) -> UsageError:
    return UsageError(f"--corpus {path} {what}; {_FORMS}")


def _cut(path: Path) -> UsageError:
    return UsageError(f"--corpus {path} ends in the middle of a page; download it again, and compare its checksum")
