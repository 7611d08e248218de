"""The site: static pages made of published results, which open from disk and from any web server. Nothing is measured or judged here."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.site.badges import badge_of, default_of
from storeproof.site.capability_pages import capability_pages, front_pages
from storeproof.site.decisions.links import decision_pages
from storeproof.site.isolation_pages import isolation_pages
from storeproof.site.names import badge
from storeproof.site.rendering import Renderer, script, site_style
from storeproof.site.run_pages import run_pages
from storeproof.site.site_content import SiteContent
from storeproof.site.store_pages import store_pages
from storeproof.site.summary import render_csv, render_json


def build_site(content: SiteContent) -> Mapping[str, str]:
    """All files of the site: the text of each by its path."""
    renderer = Renderer(content)
    files = {"site.css": site_style(), "site.js": script(), "summary.json": render_json(content), "summary.csv": render_csv(content)}
    for pages in (front_pages, store_pages, capability_pages, isolation_pages, run_pages, decision_pages):
        files.update(pages(content, renderer))
    for variant in content.variants:
        made = badge_of(variant, content)
        files |= {f"{badge(variant.store, variant.variant)}.svg": made.svg, f"{badge(variant.store, variant.variant)}.json": made.endpoint}
    for store in dict.fromkeys(each.store for each in content.variants):
        made = badge_of(default_of(content.of_store(store), content), content)
        files |= {f"{badge(store)}.svg": made.svg, f"{badge(store)}.json": made.endpoint}
    return files
