"""The first screen in a browser: filters in the address, the keyboard, and the same site from a web server."""

from __future__ import annotations

from typing import Any

from tests.shipped import SHIPPED
from tests.site.browser.visitor import Visitor

WORDS = (
    "1 of 2 variants keeps every acknowledged write through a power cut and has “Japanese, without spaces between words”: MySQL (innodb)."
)


EXPIRY = "“Expiry (time to live)” in any of 2 ways"
"""Alternatives that are of one group are told by its title."""


def rows(page: Any) -> list[str]:
    """The variants that the table shows."""
    return [str(each.get_attribute("data-variant")) for each in page.locator("#table tbody tr").all()]


def tab_until(page: Any, there: str) -> None:
    """Press Tab until an expression on the focused element is true."""
    for _ in range(80):
        if page.evaluate(f"((each) => {there})(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no stop of the keyboard has {there}")


def test_the_answer_changes_with_the_filters_and_the_address_has_them(open_page: Any, small_site: str) -> None:
    """A link to a question is a link to its answer."""
    page = open_page(f"{small_site}/index.html")
    visit = Visitor(page)
    assert visit.answer == f"None of 2 variants can fill all 2 roles. Nearest: MySQL (innodb), without {EXPIRY}."
    assert rows(page) == ["mysql:innodb", "redis:volatile"]
    visit.choose("keeps every acknowledged write through", "a power cut")
    visit.type("must have", "japanese")
    visit.press("Enter")
    assert visit.answer == WORDS
    assert rows(page) == ["mysql:innodb"]
    again = open_page(page.url)
    assert Visitor(again).answer == WORDS
    assert again.get_by_label("keeps every acknowledged write through").input_value() == "power_loss"
    again.get_by_role("button", name="Clear all").click()
    assert rows(again) == ["mysql:innodb", "redis:volatile"]
    assert again.url.endswith("#")


def test_a_role_that_is_met_in_a_looser_way_says_in_which(open_page: Any, small_site: str) -> None:
    """In its cell, and in plain words beside the answer: the difference is not hidden behind a click."""
    page = open_page(f"{small_site}/index.html#role=cache")
    assert page.locator("[data-variant='redis:volatile'] [data-label=cache]").inner_text() == "✔ meets\nby expiry.swept"
    swept = SHIPPED.capabilities["expiry.swept"].title
    assert Visitor(page).answer == f"1 of 2 variants can be cache: Redis (volatile). Only by “{swept}”: Redis (volatile)."


def test_what_no_variant_fulfils_shows_the_nearest(open_page: Any, small_site: str) -> None:
    """And says what they lack."""
    page = open_page(f"{small_site}/index.html#role=cache&role=search_store")
    assert Visitor(page).answer.startswith(f"None of 2 variants can be cache and search. Nearest: MySQL (innodb), without {EXPIRY}")
    assert rows(page) == ["mysql:innodb"]


def test_the_back_button_and_an_odd_address_do_no_harm(open_page: Any, small_site: str) -> None:
    """What an address names and the site does not have is left out."""
    page = open_page(f"{small_site}/index.html#role=none&must=a.b&must=__proto__&p99=-3&at=x&keeps=constructor&run=none")
    assert rows(page) == ["mysql:innodb", "redis:volatile"]
    page.get_by_role("link", name="a cache and a document store in one").click()
    assert page.url.endswith("#role=cache&role=document_store")
    page.go_back()
    assert rows(page) == ["mysql:innodb", "redis:volatile"]


def test_cells_show_counts_shares_and_marks(open_page: Any, small_site: str) -> None:
    """Promised or not, lower bounds, numbers that are not valid; each with a link to its evidence."""
    visit = Visitor(open_page(f"{small_site}/index.html"))
    cells = {
        (name, label): visit.cell(name, label)
        for name in ("mysql:innodb", "redis:volatile")
        for label in ("search", "kill -9", "power cut")
    }
    assert cells["mysql:innodb", "search"] == "✔ meets"
    assert cells["mysql:innodb", "power cut"] == "0 of 34.6k"
    assert cells["redis:volatile", "search"] == "fails 1, lacks 2, 2 not shown"
    assert cells["redis:volatile", "kill -9"].split() == ["46", "%", "lost", "not", "promised"]
    assert cells["redis:volatile", "power cut"].split() == ["3", "torn", "not", "promised"]
    assert visit.cell("mysql:innodb", "write a value").startswith("≥ 4.32k")
    assert "✘ errors" in visit.cell("mysql:innodb", "read a document")
    for link in visit.page.locator("#table td a").all():
        assert "#" in str(link.get_attribute("href"))


def test_all_of_it_works_by_the_keyboard(open_page: Any, small_site: str) -> None:
    """The first stop skips to the content; a filter, a suggestion and its removal need no pointer; the focus can be seen."""
    page = open_page(f"{small_site}/index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    tab_until(page, 'each.name === "role"')
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Space")
    assert "can be cache" in Visitor(page).answer
    tab_until(page, 'each.id === "must"')
    page.keyboard.type("japanese")
    tab_until(page, 'each.dataset.add === "text.language-ja"')
    page.keyboard.press("Enter")
    assert page.locator("#chosen li").count() == 1
    assert page.evaluate("document.activeElement.id") == "must"
    page.locator("#chosen button").focus()
    page.keyboard.press("Enter")
    assert page.locator("#chosen li").count() == 0
    page.locator(".wide").first.focus()
    assert page.evaluate("document.activeElement.className") == "wide"


def test_capabilities_are_searched(open_page: Any, small_site: str) -> None:
    """By words of the name, the title and the group; the address has them."""
    page = open_page(f"{small_site}/capabilities.html")
    page.get_by_label("Search").fill("full-text japanese")
    assert page.locator("#count").inner_text() == "1 of 6 capabilities"
    again = open_page(page.url)
    assert [each.inner_text().split("\n")[0] for each in again.locator("#capabilities tbody tr:visible th").all()] == [
        "Japanese, without spaces between words"
    ]


def test_two_stores_side_by_side_are_in_the_address(open_page: Any, small_site: str) -> None:
    """With what each has that the other lacks, and no ratio where durability differs."""
    page = open_page(f"{small_site}/compare.html#a=redis:volatile&b=mysql:innodb")
    assert Visitor(page).answer == "Redis (volatile) has one capability that MySQL (innodb) lacks, and lacks 2 that it has."
    page.get_by_role("button", name="Swap").click()
    assert page.url.endswith("#a=mysql%3Ainnodb&b=redis%3Avolatile")
    assert page.locator("#only h2").first.inner_text() == "2 capabilities of MySQL (innodb) that Redis (volatile) lacks"
    assert open_page(page.url).locator("#compared thead th").nth(1).inner_text().split("\n")[1] == "innodb"


def test_a_web_server_shows_the_same(open_page: Any, small_site: str, served: str) -> None:
    """As the disk does."""
    state = "/index.html#keeps=power_loss&must=text.language-ja"
    assert Visitor(open_page(f"{served}{state}")).answer == Visitor(open_page(f"{small_site}{state}")).answer == WORDS
