"""The search by words that people use, and the filters by the loss of a node and by isolation level, on the published site."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.check import is_at_least
from storeproof.outcome import SHOWN
from storeproof.site.site_content import SiteContent
from tests.site.browser.visitor import Visitor

MOST = 3


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("TTL", "expiry.put-expiring"),
        ("time to live", "expiry.put-expiring"),
        ("queue", "structures.list-pop"),
        ("job", "structures.list-pop"),
        ("JSON", "documents.nested-put-get"),
        ("index", "indexes.document"),
    ],
)
def test_what_was_meant_is_added(visit: Visitor, published: SiteContent, word: str, meant: str) -> None:
    """And the answer counts those that were shown to have it."""
    visit.type("must have", word)
    visit.press("Enter")
    assert visit.page.url.endswith(f"#must={meant}")
    tried = [each for each in published.variants if each.answers]
    can = [each for each in tried if published.answers[each.name][meant].shown]
    assert can
    assert visit.answer.startswith(f"{len(can)} of {len(tried)} variants ")
    assert visit.interactions <= MOST


def test_what_no_case_tries_is_said_to_be_not_tested(visit: Visitor) -> None:
    """Not that no store has it; a word without a meaning is another thing. Both searches say so."""
    visit.type("must have", "vector")
    assert visit.page.locator("#found").inner_text() == "vector: not tested. No case of storeproof tries it."
    visit.type("must have", "xyzzy")
    assert visit.page.locator("#found").inner_text() == "No capability has these words."
    visit.page.goto(visit.page.url.partition("index.html")[0] + "capabilities.html#q=vector")
    assert "not tested" in visit.page.locator("#count").inner_text()
    visit.type("Search", "ttl")
    names = visit.page.locator("#capabilities tbody th small").all_text_contents()
    assert visit.page.locator("#count").inner_text().startswith(f"{sum(each.startswith('expiry.') for each in names)} of ")


def test_who_keeps_every_write_when_a_node_is_lost(visit: Visitor, published: SiteContent) -> None:
    """Clusters are in the table then, though their capabilities were not tried; one server keeps nothing by itself."""
    visit.choose("keeps every acknowledged write through", "the loss of a node")
    struck = [each for each in published.variants if "node_loss" in each.losses]
    kept = [each for each in struck if each.losses["node_loss"][0].state == "kept"]
    assert 0 < len(kept) < len(struck)
    assert visit.answer.startswith(f"{len(kept)} of ")
    assert "variants keep every acknowledged write through the loss of a node: " in visit.answer
    assert visit.page.locator("#table tbody tr").count() == len(kept)
    assert visit.interactions <= MOST


def test_whose_transactions_are_serializable(visit: Visitor, published: SiteContent) -> None:
    """A level that claims it, and that no transaction refuted; what was not tried is named apart."""
    visit.choose("transactions not refuted as", "serializable")
    tried = [each for each in published.variants if each.answers]
    able = [
        each
        for each in tried
        if any(
            level.outcome in SHOWN and level.guarantees is not None and is_at_least(level.guarantees, "serializable")
            for level in published.levels[each.name]
        )
    ]
    assert able
    assert visit.answer.startswith(f"{len(able)} of {len(tried)} variants have transactions that are not refuted as serializable: ")
    assert "#isolation=serializable" in visit.page.url
    assert visit.interactions <= MOST


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("state", ["keeps=node_loss", "isolation=serializable"])
def test_the_new_filters_fit_a_phone_and_a_desk(published_site: str, open_page: Any, width: int, state: str) -> None:
    """No page scrolls sideways."""
    page = open_page(f"{published_site}/index.html#{state}", width=width)
    page.locator("#table tbody tr").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
