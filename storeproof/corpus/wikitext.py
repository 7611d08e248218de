"""Extracts plain text and categories from wikitext.

Templates are dropped, since their expansion is not in the page, and so are tables, footnotes, images and formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from storeproof.corpus.dump import CATEGORIES, FILES, Site
from storeproof.errors import UsageError

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Wikilink
    from mwparserfromhell.wikicode import Wikicode

LONGEST: Final = 100_000
"""Maximum characters of a body: few articles are longer, and text indexes limit the size of one text."""

_DROPPED: Final = frozenset(
    {"table", "ref", "references", "gallery", "math", "chem", "timeline", "score", "syntaxhighlight", "source", "style", "templatestyles"}
)
_SWITCH: Final = re.compile(r"__[A-Z]+__")
"""Behaviour switches, such as `__NOTOC__`."""
_VARIANTS: Final = re.compile(r"-\{(?:[^{}:;|]*[|:])*([^{}:;|]*)(?:;[^{}]*)?\}-")
"""Language variants, `-{zh-hans:A; zh-hant:B}-`: one word in several scripts. The first is kept."""
_ELSEWHERE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z-]+)?")
"""Prefix of an interlanguage link, such as `de`."""
_SPACES: Final = re.compile(r"[^\S\n]+")


class WikitextReader(NamedTuple):
    """Reads the pages of one wiki. Holds the case-folded prefixes of its category and file links."""

    categories: frozenset[str]
    files: frozenset[str]

    @classmethod
    def of(cls, site: Site) -> WikitextReader:
        """A reader with the namespace names of this wiki."""
        return cls(site.names(CATEGORIES, "Category"), site.names(FILES, "File", "Image") | site.names(-2, "Media"))

    def read(self, text: str) -> tuple[str, list[str]]:
        """The plain text, one line per paragraph, and the distinct categories in order.
        Raises `UsageError`: mwparserfromhell is not installed."""
        try:
            import mwparserfromhell  # here, because it is needed for dumps only
        except ImportError:
            raise UsageError("--corpus needs mwparserfromhell, which reads wikitext; run: pip install 'storeproof[corpus]'") from None
        categories: dict[str, None] = {}
        written = "".join(self._plain(mwparserfromhell.parse(_VARIANTS.sub(r"\1", text)), categories))
        lines = (_SPACES.sub(" ", line).strip() for line in _SWITCH.sub("", written).split("\n"))
        return shortened("\n".join(line for line in lines if line)), list(categories)

    def _plain(self, code: Wikicode, categories: dict[str, None]) -> Iterator[str]:
        from mwparserfromhell import nodes

        for node in code.nodes:
            match node:
                case nodes.Text():
                    yield node.value
                case nodes.HTMLEntity():
                    yield node.normalize()
                case nodes.Heading():
                    yield from ("\n", *self._plain(node.title, categories), "\n")
                case nodes.ExternalLink() if node.title is not None:
                    yield from self._plain(node.title, categories)
                case nodes.Wikilink():
                    yield from self._link(node, categories)
                case nodes.Tag() if node.contents is not None and str(node.tag).strip().lower() not in _DROPPED:
                    yield from self._plain(node.contents, categories)

    def _link(self, link: Wikilink, categories: dict[str, None]) -> Iterator[str]:
        target = str(link.title).strip()
        space, colon, name = target.partition(":")
        space = space.strip().replace("_", " ").casefold()
        if colon and space in self.categories:
            if name := " ".join(name.replace("_", " ").split()):
                categories[name[0].upper() + name[1:]] = None
        elif colon and (space in self.files or (link.text is None and _ELSEWHERE.fullmatch(target.partition(":")[0]))):
            return
        elif link.text is not None:
            yield from self._plain(link.text, categories)
        else:
            yield target.removeprefix(":")


def shortened(text: str) -> str:
    """Cut a text to at most `LONGEST` characters, between two words if possible."""
    if len(text) <= LONGEST:
        return text
    cut = max(text.rfind(" ", 0, LONGEST), text.rfind("\n", 0, LONGEST))
    return text[: cut if cut > 0 else LONGEST]
