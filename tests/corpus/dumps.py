"""Small dumps, written by hand, with what real ones have in them."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

PACKING = {".xml": bytes, ".bz2": bz2.compress, ".gz": gzip.compress}


def head(language: str = "de", names: Iterable[tuple[int, str]] = ((0, ""), (1, "Diskussion"), (6, "Datei"), (14, "Kategorie"))) -> str:
    """What stands before the first page."""
    spaces = "".join(f'<namespace key="{number}" case="first-letter">{name}</namespace>' for number, name in names)
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" '
        f'xml:lang="{language}"><siteinfo><sitename>Wiki</sitename><dbname>{language}wiki</dbname>'
        f"<case>first-letter</case><namespaces>{spaces}</namespaces></siteinfo>"
    )


def page(number: int, title: str, *texts: str, space: int = 0, redirect: str = "") -> str:
    """A page with one revision for each text, a day after the one before."""
    revisions = "".join(
        f"<revision><id>{number * 100 + day}</id><timestamp>2026-01-{day:02}T08:00:00Z</timestamp><contributor><username>A</username>"
        f'<id>7</id></contributor><comment>a &lt;comment&gt;</comment><text xml:space="preserve">{escape(text)}</text></revision>'
        for day, text in enumerate(texts, 1)
    )
    leads_to = f'<redirect title="{redirect}" />' if redirect else ""
    return f"<page><title>{escape(title)}</title><ns>{space}</ns><id>{number}</id>{leads_to}{revisions}</page>"


def dump(directory: Path, *pages: str, name: str = "dewiki.xml", first: str | None = None) -> Path:
    """A file of these pages, packed as its name says."""
    path = directory / name
    text = (head() if first is None else first) + "\n".join(pages) + "</mediawiki>"
    path.write_bytes(PACKING[path.suffix](text.encode()))
    return path


TRAPS = (
    page(
        1,
        "Der Fluss",
        "Alt.",
        "Der '''Fluss''' entspringt auf einem [[Berg|hohen Berg]].\n\n[[Kategorie:gewässer|Fluss]] [[category:Natur_und  Land]]",
    ),
    page(2, "Fluß", "#WEITERLEITUNG [[Der Fluss]]", redirect="Der Fluss"),
    page(3, "Diskussion:Der Fluss", "Wer hat das geschrieben?", space=1),
    page(4, "Leer", ""),
    page(5, "Nur Vorlagen", "{{Infobox Ort|Name=X|Karte=[[Datei:x.png]]}}\n<!-- nichts -->\n[[Kategorie:Ort]]"),
    page(
        6,
        "Die Stadt & das Land",
        "{{Infobox|a={{b|c}}}}\n== Lage ==\n"
        "Die Stadt&nbsp;liegt am [[Fluss]]<ref>Quelle, S. 3</ref>.\n"
        "{| class=wikitable\n|-\n| Zelle || 12\n|}\n"
        "[[Datei:Karte.svg|mini|Eine Karte mit [[Verweis|einem Verweis]] darin]]\n"
        "* [https://example.org/ Seite der Stadt]\n"
        "Siehe [[:Kategorie:Städte]]. <math>x^2</math><nowiki>[[Kategorie:Keine]]</nowiki> __NOTOC__\n"
        "[[en:The town]] [[Kategorie:Städte]] [[Kategorie:Städte|doppelt]]",
    ),
    page(7, "Zielseite", "#REDIRECT [[Der Fluss]]"),
    page(8, "Kategorie:Natur", "Über Natur.", space=14),
)
"""Pages of which two are articles: 1 and 6."""


def many(count: int, characters: int) -> Iterator[str]:
    """Pages that all have about that many characters, with little markup, which takes the time."""
    text = "The river rises on a high mountain and runs to the sea. " * (characters // 56)
    return (page(number, f"Page {number}", f"'''A''' [[b|c]] {text}[[Category:C{number % 50}]]") for number in range(1, count + 1))
