"""The site of the published results: its weight, and its links."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from storeproof.report.parts.losses import losses_of
from storeproof.site import build_site
from storeproof.site.site_content import SiteContent
from tests.site.pages import broken_links, read_pages

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
FIRST_LOAD = 300_000
SUMMARY = 60_000


@pytest.fixture(scope="module")
def files(published: SiteContent) -> Mapping[str, str]:
    """Its files."""
    return build_site(published)


def test_the_first_load_is_light(files: Mapping[str, str]) -> None:
    """The first page with its style and its script, before any compression; the page names no other file."""
    assert sum(len(files[name].encode()) for name in ("index.html", "site.css", "site.js")) <= FIRST_LOAD
    (read,) = read_pages({"index.html": files["index.html"]}).values()
    assert sorted(read.loaded) == ["data:,", "site.css", "site.js"]


def test_the_summary_is_small_and_whole(files: Mapping[str, str], published: SiteContent) -> None:
    """For other programs: every variant in less than 60 kB."""
    assert len(files["summary.json"].encode()) < SUMMARY
    assert len(json.loads(files["summary.json"])["variants"]) == len(published.variants)


def test_every_link_of_the_published_site_arrives(files: Mapping[str, str]) -> None:
    """And every id is unique, on each of its pages."""
    pages = read_pages(files)
    assert len(pages) > 250
    assert broken_links(pages, files) == []
    assert [path for path, each in pages.items() if len(each.page.ids) != len(set(each.page.ids))] == []


def test_known_findings_are_on_the_pages(files: Mapping[str, str], published: SiteContent) -> None:
    """What the README finds first is found on the site: no variant fills all roles."""
    filled = [each.name for each in published.variants if each.roles and all(role.verdict == "meets" for role in each.roles.values())]
    assert filled == []
    cache = {each.name: each.roles["cache"].lacks for each in published.variants if "cache" in each.roles}
    assert cache["mongodb:journaled"] == []
    assert cache["postgresql:synchronous-commit-on"] == ["expiry.hidden or expiry.put-expiring or expiry.swept"]
    assert "expiry.swept" in files["store/mongodb.journaled.html"]


def test_every_sign_of_the_example_leads_to_its_evidence(files: Mapping[str, str], published: SiteContent) -> None:
    """One for each candidate and need; those that were shown lead to another page, which the links above prove to be there."""
    (decision,) = published.decisions
    page = files["decision/one-store-or-two.html"]
    tables = page[page.index('id="candidates"') :].partition("</section>")[0]
    links = re.findall(r'<td[^>]*><a href="([^"]+)"', tables)
    judged = [each for candidate in (*decision.tried, *decision.untried) for each in candidate.judged]
    assert len(links) == len(judged)
    away = [each.verdict != "not shown" and bool(each.seen) for each in judged]
    assert [link.startswith("../") for link in links] == away
    assert any(away)


def test_the_readme_shows_what_the_first_screen_shows(published: SiteContent) -> None:
    """One set of numbers: the speeds of one run, and the same shares of what was lost."""
    assert published.main is not None
    shown = re.findall(r"reports/([\w-]+)/(?:overview|narrow)\.svg", (CHECKOUT / "README.md").read_text())
    assert set(shown) == {published.main.source.name}
    drawn = ("2026-11-26-keys", "2026-11-26-databases", "2026-11-27-mysql")
    variants = {each.name: each for each in published.variants}
    for store in (store for each in published.sources if each.name in drawn for store in each.result.stores):
        told = variants[f"{store.store}:{store.variant}"].losses
        for fault, loss in losses_of(store).items():
            assert (told[fault][0].state, told[fault][0].lost.percent) == (loss.state, loss.lost.percent)
