"""Renders the templates. All text is escaped: results may come from anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader

from storeproof.printable import printable
from storeproof.report.parts.losses import nodes_in_words
from storeproof.report.parts.origin import programs_told, support_told
from storeproof.report.parts.rendering import environment, style
from storeproof.site import names
from storeproof.site.site_content import SiteContent

SCRIPTS: Final = (
    *("dom", "words", "data", "state", "cells", "conditions", "answer", "table"),
    *("synonyms", "dropped", "filters", "compare", "search", "main"),
)
"""In their order in `site.js`: a script from disk may not import another."""


@dataclass(frozen=True, eq=False)
class Renderer:
    """The templates, with what all of them show."""

    content: SiteContent
    _environment: Environment = field(default_factory=lambda: _environment())

    def page(self, path: str, template: str, **shown: Any) -> str:
        """One page; `path`: where it will be, relative to the site."""
        root = "../" * path.count("/")
        return printable(self._environment.get_template(template).render(root=root, content=self.content, **shown))


def site_style() -> str:
    return style() + _text("site.css")


def script() -> str:
    parts = "\n".join(_text(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _environment() -> Environment:
    found = environment(PackageLoader("storeproof.site", "templates"))
    pages = (names.store_page, names.variant_page, names.isolation_page, names.capability_page, names.run_page, names.demand_page)
    anchors = (names.slug, names.store_anchor, names.loss_anchor, names.model_anchor, names.level_anchor)
    words = (nodes_in_words, programs_told, support_told)
    found.globals.update({each.__name__: each for each in (*pages, names.decision_page, *anchors, names.badge, *words)})
    return found


def _text(name: str) -> str:
    return files("storeproof.site").joinpath(name).read_text(encoding="utf-8")
