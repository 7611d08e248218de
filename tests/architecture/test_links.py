"""Every relative link in the project's Markdown leads to a file that exists, and to a heading that is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.installed import CHECKOUT

FOLDERS = ("adapters", "conformance", "docs", "native", "reports", "spec", "suites", "tests")
PAGES = [*CHECKOUT.glob("*.md"), *(page for folder in FOLDERS for page in (CHECKOUT / folder).rglob("*.md") if "target" not in page.parts)]
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|source|a)\s[^>]*?(?:src|srcset|href)=\"([^\"]+)\"")


def links(text: str) -> Iterator[str]:
    """The relative ones, of Markdown and of HTML in it."""
    for found in _LINK.finditer(_CODE.sub("", text)):
        target = found[1] or found[2]
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(text: str) -> set[str]:
    """Of the headings, as a forge makes them: lower case, hyphens for spaces, no other punctuation."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for target in links(text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        read = text if file == page else file.read_text() if file.suffix == ".md" and file.is_file() else ""
        if not file.exists() or (anchor and anchor not in anchors(read)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """A file that was moved or deleted is not linked to."""
    assert broken(page, page.read_text()) == []


def test_the_check_sees_every_kind_of_broken_link() -> None:
    """Files and headings, in Markdown and in HTML; what is code or elsewhere is left alone."""
    page = CHECKOUT / "README.md"
    text = (
        "# Some title: it\n[a](nowhere.md) [b](#some-title-it) [c](#other) ![d](https://example.org/x.svg) `[e](no.md)` "
        '<source srcset="no.svg"> [f](docs/METHOD.md#who-is-to-blame) [g](docs/METHOD.md#no-one)\n'
    )
    assert broken(page, text) == ["nowhere.md", "#other", "no.svg", "docs/METHOD.md#no-one"]
