"""What a reader of a page reads: its text without markup, and the categories that it is in.

Templates are dropped, since what they stand for is not in the page, and so are tables, notes, pictures and formulas.
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
"""Characters of a body; text indexes have limits of their own for one text, and few articles are longer."""

_DROPPED: Final = frozenset(
    {"table", "ref", "references", "gallery", "math", "chem", "timeline", "score", "syntaxhighlight", "source", "style", "templatestyles"}
)
_SWITCH: Final = re.compile(r"__[A-Z]+__")
"""`__NOTOC__` and its like."""
_VARIANTS: Final = re.compile(r"-\{(?:[^{}:;|]*[|:])*([^{}:;|]*)(?:;[^{}]*)?\}-")
"""`-{zh-hans:A; zh-hant:B}-`: one word in several scripts, of which the first is taken."""
_ELSEWHERE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z-]+)?")
"""The mark of the same page in another language."""
_SPACES: Final = re.compile(r"[^\S\n]+")


class Reader(NamedTuple):
    """How the links of one wiki are told apart."""

    categories: frozenset[str]
    files: frozenset[str]

    @classmethod
    def of(cls, site: Site) -> Reader:
        """By the names that the wiki gives to its namespaces."""
        return cls(site.names(CATEGORIES, "Category"), site.names(FILES, "File", "Image") | site.names(-2, "Media"))

    def read(self, text: str) -> tuple[str, list[str]]:
        """The plain text, a line for each paragraph, and the names of the categories, each once.

        Raises:
            UsageError: the library that knows wikitext is not installed.
        """
        try:
            import mwparserfromhell  # not at the top: only who has a dump needs it
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
    """A text of at most `LONGEST` characters, cut between two words where there is a place for it."""
    if len(text) <= LONGEST:
        return text
    cut = max(text.rfind(" ", 0, LONGEST), text.rfind("\n", 0, LONGEST))
    return text[: cut if cut > 0 else LONGEST]
