"""The pages of decisions."""

from __future__ import annotations

from collections.abc import Iterator

from storeproof.report.decision import tables, words
from storeproof.site.decisions.links import SiteLinks
from storeproof.site.names import decision_page
from storeproof.site.rendering import Renderer
from storeproof.site.site_content import SiteContent


def decision_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    links = SiteLinks(content, "../")
    for decision in content.decisions:
        path = decision_page(decision.needs.decision)
        yield path, renderer.page(path, "decision.html.j2", decision=decision, tables=tables, words=words, links=links)
