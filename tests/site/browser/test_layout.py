"""Every kind of page on a phone, in light and dark, and by the rules of axe."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.site.names import store_page
from storeproof.site.site_content import SiteContent

KINDS = (
    "index.html",
    "capabilities.html",
    "isolation.html",
    "isolation/mysql.html",
    "compare.html",
    "runs.html",
    "run/small.html",
    "store/redis.html",
    "store/mysql.innodb.html",
    "capability/text.word.html",
    "decision/d.html",
    "spec/text.html",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_phone_never_scrolls_a_page_sideways(open_page: Any, small_site: str, kind: str) -> None:
    """At 390 pixels tables scroll in their boxes, or are cards."""
    page = open_page(f"{small_site}/{kind}", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_the_first_result_as_a_card(open_page: Any, small_site: str) -> None:
    """Each cell with the heading of its column, and no table wider than the screen."""
    page = open_page(f"{small_site}/index.html", width=390)
    box = page.locator(".wide").first
    assert box.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    cell = page.locator('#table td[data-label="cache"]').first
    assert cell.evaluate('(each) => getComputedStyle(each, "::before").content') == '"cache"'
    assert page.get_by_role("cell").count() > 0, "it is a table for those who cannot see it"


@pytest.mark.parametrize("kind", KINDS)
def test_dark_pages_are_dark(open_page: Any, small_site: str, kind: str) -> None:
    """As the system asks; the text is bright then."""
    grounds = {}
    for scheme in ("light", "dark"):
        page = open_page(f"{small_site}/{kind}", scheme=scheme)
        colours = page.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
        grounds[scheme] = [sum(map(int, each.removeprefix("rgb(").removesuffix(")").split(","))) for each in colours]
    assert grounds["light"][0] > 600 > 200 > grounds["light"][1]
    assert grounds["dark"][0] < 200 < 600 < grounds["dark"][1]


def test_the_published_first_screen_fits_a_phone_and_a_desk(published_site: str, open_page: Any) -> None:
    """Names of runs are as long as they are; and a wide table shows its last column, which are speeds, without being scrolled."""
    assert open_page(f"{published_site}/index.html", width=390).evaluate("document.documentElement.scrollWidth") <= 390
    for rows in ("", "#all=1"):
        box = open_page(f"{published_site}/index.html{rows}").locator(".wide").first
        assert box.evaluate("(each) => each.scrollWidth - each.clientWidth") == 0, rows


def test_the_published_pages_of_stores_fit_a_phone(published: SiteContent, published_site: str, open_page: Any) -> None:
    """Badges are as wide as what they say."""
    page = open_page(f"{published_site}/runs.html", width=390)
    wide = []
    for store in dict.fromkeys(each.store for each in published.variants):
        page.goto(f"{published_site}/{store_page(store)}")
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(store)
    assert wide == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation(open_page: Any, served: str, kind: str, width: int, scheme: str) -> None:
    """Of any of its rules. From a web server: axe reads the style sheet, which no script may do from disk."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python: pip install -e '.[site]'"
    )
    page = open_page(f"{served}/{kind}", width=width, scheme=scheme)
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []


def test_axe_is_at_work(open_page: Any, served: str) -> None:
    """A picture without a text and a pale word are found."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python: pip install -e '.[site]'"
    )
    page = open_page(f"{served}/runs.html")
    wrong = '<img src="data:,"><p style="color:#ccc;background:#fff">pale</p>'
    page.evaluate("(wrong) => document.querySelector('main').insertAdjacentHTML('beforeend', wrong)", wrong)
    assert {each["id"] for each in axe.Axe().run(page).response["violations"]} >= {"image-alt", "color-contrast"}
