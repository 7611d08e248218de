"""Reads the pages of a site and follows their links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from tests.report.test_html import Page

LOADED = re.compile(
    r"<(?:script|img|iframe|audio|video|source|object|embed)\b[^>]*?\b(?:src|data)=\"([^\"]*)\"|<link\b[^>]*?\bhref=\"([^\"]*)\""
)


@dataclass(frozen=True)
class Read:
    """One page."""

    path: str
    text: str
    page: Page

    @property
    def loaded(self) -> list[str]:
        """What a browser fetches to show it."""
        return [found[1] if found[1] is not None else found[2] for found in LOADED.finditer(self.text)]


def read_pages(files: Mapping[str, str]) -> dict[str, Read]:
    """All pages of a site."""
    return {path: Read(path, text, Page(text)) for path, text in files.items() if path.endswith(".html")}


def broken_links(pages: Mapping[str, Read], files: Mapping[str, str]) -> list[str]:
    """Links that lead to no file of the site, or to an anchor that is not in it. Those behind a `#` with a `=` are states of a script."""
    ids = {path: set(each.page.ids) for path, each in pages.items()}
    found = []
    for each in pages.values():
        for link in each.page.links:
            if re.match(r"(?:https?|data):", link):
                continue
            target, _, anchor = link.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(each.path), unquote(target))) if target else each.path
            if path not in files or (anchor and "=" not in anchor and unquote(anchor) not in ids.get(path, ())):
                found.append(f"{each.path}: {link}")
    return found
