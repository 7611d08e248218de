"""The first screen, the list of capabilities, the comparison, and the list of runs."""

from __future__ import annotations

from collections.abc import Iterator

from storeproof.report.decision.words import headline
from storeproof.site.capability_pages import replies_of
from storeproof.site.rendering import Renderer
from storeproof.site.script_data import as_script, payload, ratios
from storeproof.site.site_content import SiteContent


def front_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    data = payload(content)
    asked = [each for each in content.variants if each.answers]
    yield "index.html", renderer.page("index.html", "index.html.j2", data=as_script(data), shown=data, headline=headline)
    yield "capabilities.html", renderer.page("capabilities.html", "capabilities.html.j2", asked=asked, replies=replies_of(content))
    yield "compare.html", renderer.page("compare.html", "compare.html.j2", data=as_script(data | {"ratios": ratios(content)}))
    yield "runs.html", renderer.page("runs.html", "runs.html.j2")
