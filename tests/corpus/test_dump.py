"""A dump is read as its readers would read it, and what is none is told in one message."""

from __future__ import annotations

import bz2
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from storeproof.corpus.article_store import articles_of
from storeproof.corpus.articles import Article
from storeproof.corpus.dump import Dump, Site
from storeproof.corpus.wikitext import LONGEST, WikitextReader
from storeproof.errors import UsageError
from tests.corpus.dumps import TRAPS, dump, head, many, page


def _articles(path: Path) -> dict[int, Article]:
    return {page.number: article for page, article in articles_of(Dump(path)) if article}


@pytest.mark.parametrize("name", ["dewiki.xml", "dewiki.xml.bz2", "dewiki.xml.gz"])
def test_articles_are_read_and_nothing_else(tmp_path: Path, name: str) -> None:
    """No redirects, no talk, nothing without text; the last revision; categories in the words of the wiki."""
    found = _articles(dump(tmp_path, *TRAPS, name=name))
    assert found == {
        1: Article("Der Fluss", "Der Fluss entspringt auf einem hohen Berg.", "de", ["Gewässer", "Natur und Land"], "2026-01-02T08:00:00Z"),
        6: Article(
            "Die Stadt & das Land",
            "Lage\nDie Stadt liegt am Fluss.\nSeite der Stadt\nSiehe Kategorie:Städte. [[Kategorie:Keine]]",
            "de",
            ["Städte"],
            "2026-01-01T08:00:00Z",
        ),
    }


@pytest.mark.parametrize(
    ("wikitext", "body", "categories"),
    [
        ("[[Категория:Река]] Река", "Река", ["Река"]),
        ("[[Файл:x.jpg|thumb|[[a]] und [[b|c]]]]Текст", "Текст", []),
        ("-{zh-hans:图书馆; zh-hant:圖書館}-。", "图书馆。", []),
        ("{{unclosed [[link", "{{unclosed [[link", []),
        ("'''''both'' bold'''", "both bold", []),
        ("a[[File:x.png]]b [[Image:y.png|z]]c", "ab c", []),
        ("[[Category:]] x", "x", []),
    ],
)
def test_wikitext(wikitext: str, body: str, categories: list[str]) -> None:
    """Markup is taken off, and categories are read in the language of the site."""
    reader = WikitextReader.of(Site("ru", {6: "Файл", 14: "Категория"}))
    assert reader.read(wikitext) == (body, categories)


def test_a_long_text_is_cut_between_words() -> None:
    """At the limit, and not within a word."""
    body, _ = WikitextReader.of(Site("en", {})).read("abcdefg " * LONGEST)
    assert LONGEST - 8 <= len(body) <= LONGEST
    assert body.endswith("abcdefg")


def test_the_language_of_an_old_dump_is_in_the_name_of_its_database(tmp_path: Path) -> None:
    """Where the root element does not name it."""
    path = dump(tmp_path, page(1, "A", "Text"), first=head("pt").replace('xml:lang="pt"', ""))
    assert Dump(path).site.language == "pt"


def test_a_dump_of_several_streams_is_one(tmp_path: Path) -> None:
    """As the multistream dumps of Wikipedia are packed."""
    path = dump(tmp_path, *TRAPS)
    whole = path.read_bytes()
    packed = tmp_path / "multistream.xml.bz2"
    packed.write_bytes(bz2.compress(whole[:700]) + bz2.compress(whole[700:]))
    assert _articles(packed) == _articles(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xml", b"", "is empty"),
        ("x.xml.bz2", b"", "is empty"),
        ("x.xml.bz2", b"<mediawiki>", "has the suffix .bz2, but begins with b'<med'"),
        ("x.xml.gz", b"BZh91AY&SY", "has the suffix .gz, but begins with b'BZh9'"),
        ("x.xml", b"PK\x03\x04zip", "is not XML"),
        ("x.xml", b"plain text", "is not XML"),
        ("x.xml", b"<html><body/></html>", "not a MediaWiki export: its root is <html>"),
        ("x.xml", b"<mediawiki></mediawiki>", "has neither a <siteinfo> nor a page"),
        ("x.xml", b"<mediawiki><page><title>A</title><id>1</id></page></mediawiki>", "has no <siteinfo> before its first page"),
        ("x.xml.bz2", b"BZh91AY&SYnonsense that is long enough to be read", "cannot be unpacked"),
        ("x.xml.gz", b"\x1f\x8bnonsense that is long enough to be read", "cannot be unpacked"),
        (
            "x.xml",
            b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><mediawiki>&c;</mediawiki>',
            "has a document type",
        ),
        ("x.xml", (head() + "<page><title>A</title><id>²</id></page>").encode(), "has a page without a number"),
        ("x.xml", (head() + f"<page><title>A</title><id>{'1' * 5000}</id></page>").encode(), "has a page without a number"),
        ("x.xml.bz2", lambda: bz2.compress(head().encode() + b"<a>" * 1_000_000), "has elements more than 32 levels deep"),
        ("x.xml.bz2", lambda: bz2.compress(b"<mediawiki a='" + b"a" * 4_000_000), "has a tag or a comment of more than 1,048,576 bytes"),
        ("x.xml.bz2", lambda: bz2.compress(b"<mediawiki><!-- " + b"a" * 4_000_000), "has a tag or a comment of more than 1,048,576 bytes"),
        ("x.xml", head(names=((number, "n") for number in range(20_000))).encode(), "names more than 10,000 namespaces"),
    ],
)
def test_what_is_no_dump_is_told_when_it_is_opened(tmp_path: Path, name: str, content: bytes | Callable[[], bytes], message: str) -> None:
    """In one line that says what was found, also for bombs, in bounded memory."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content())
    with pytest.raises(UsageError, match=r"^--corpus \S+ ") as told:
        list(Dump(path).pages())
    assert message in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file and a directory have a message each."""
    with pytest.raises(UsageError, match="does not exist"):
        Dump(tmp_path / "missing.xml")
    with pytest.raises(UsageError, match="is a directory"):
        Dump(tmp_path)
    os.mkfifo(tmp_path / "pipe.xml")
    with pytest.raises(UsageError, match="is a pipe, not a file"):  # without a writer: opening it would wait
        Dump(tmp_path / "pipe.xml")
    with pytest.raises(UsageError, match="File name too long"):
        Dump(tmp_path / ("a" * 300))


@pytest.mark.parametrize("name", ["cut.xml", "cut.xml.bz2", "cut.xml.gz"])
@pytest.mark.slow
def test_a_file_that_was_cut_is_told_when_its_end_is_reached(tmp_path: Path, name: str) -> None:
    """What was read before is no whole corpus."""
    path = dump(tmp_path, *many(3000, 900), name=name)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(UsageError, match="ends in the middle of a page"):
        _articles(path)


def test_one_endless_text_is_refused(tmp_path: Path) -> None:
    """It would have to be in memory whole."""
    path = dump(tmp_path, page(1, "A", "a" * (17 << 20)), name="x.xml.bz2")
    with pytest.raises(UsageError, match="more than 16,777,216 characters"):
        _articles(path)
