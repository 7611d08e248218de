"""The report of a run in a browser: it is made of the same parts as the site, and holds to the same rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.report.html import render_html
from tests.report.sample import TARGETS, sample_outage, sample_result
from tests.result.needs.needed import capability
from tests.site.made import result, tried

EXPIRY, WORD = "expiry.put-expiring", "text.word"


@pytest.fixture
def opened(open_page: Any, tmp_path: Path) -> Callable[..., Any]:
    """Opens a report."""

    def opened(report: str, width: int = 1280, scheme: str = "light") -> Any:
        path = tmp_path / "report.html"
        path.write_text(report, encoding="utf-8")
        return open_page(path.as_uri(), width=width, scheme=scheme)

    return opened


@cache
def full(stores: int = len(TARGETS)) -> str:
    """With everything that a report may show; it is rendered once for all tests."""
    sample = sample_result(TARGETS[:stores])
    first = sample.stores[0].model_copy(update={"outages": [sample_outage("crash"), sample_outage("pause", lost=3, claimed=False)]})
    return render_html(sample.model_copy(update={"stores": [first, *sample.stores[1:]]}))


@cache
def answered() -> str:
    """Two stores that answered two capabilities of the specification."""
    stores = []
    for name, word in (("redis:x", Outcome.UNSUPPORTED), ("mongodb:x", Outcome.PASS)):
        outcomes = [*capability(EXPIRY), *capability(WORD, word)]
        stores.append(tried(name, (EXPIRY, Outcome.PASS), (WORD, word), outcomes=outcomes))
    return render_html(result(*stores))


@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_never_scrolls_sideways(opened: Any, width: int) -> None:
    """Tables and pictures scroll in their boxes, also where every list is open."""
    page = opened(full(), width=width)
    page.evaluate('document.querySelectorAll("details").forEach((each) => (each.open = true))')
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_of_stores_stay_in_their_column_on_a_phone(opened: Any) -> None:
    """Long ones wrap."""
    page = opened(full(), width=390)
    wide = '[...document.querySelectorAll("#overview tbody th")].filter((each) => each.scrollWidth > each.clientWidth).length'
    assert page.locator("#overview tbody th").count()
    assert page.evaluate(wide) == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_roles_losses_and_speeds_are_on_the_first_screen(opened: Any, width: int) -> None:
    """Of 900 pixels; the command line, which may be long, is folded."""
    page = opened(full(), width=width)
    row = page.locator("#overview tbody tr").first
    box = row.bounding_box()
    assert box["y"] + box["height"] <= 900
    assert "✔ meets" in row.inner_text()
    assert not page.locator("header pre").is_visible()


def test_groups_are_folded_and_a_sign_opens_its_cases(opened: Any) -> None:
    """The request, the correct answer, and what each store answered."""
    page = opened(answered())
    rows = page.locator("#capabilities tr[data-outcomes]:visible")
    assert rows.count() == 0
    group = page.get_by_role("button", name="text")
    group.click()
    assert group.get_attribute("aria-expanded") == "true"
    assert rows.count() == 1
    page.get_by_role("link", name="yes: ").first.click()
    case = page.locator(f'[id="capability-{WORD}"]')
    case.wait_for()
    assert "correct:" in case.inner_text()
    assert "the detail" in case.inner_text()
    group.click()
    assert rows.count() == 0


def test_a_filter_opens_the_groups_that_have_something_of_it(opened: Any) -> None:
    """And hides the others; without it they are folded again."""
    page = opened(answered())
    page.locator("#filter-outcome").select_option("unsupported")
    assert [each.inner_text() for each in page.locator("#capabilities tr[data-outcomes]:visible th").all()] == [WORD]
    assert page.locator("#capabilities tbody:visible").count() == 1
    page.locator("#filter-outcome").select_option("")
    assert page.locator("#capabilities tr[data-outcomes]:visible").count() == 0
    assert page.locator("#capabilities tbody:visible").count() == 2


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_no_violation_in_a_report(opened: Any, width: int, scheme: str) -> None:
    """Of any of its rules, with every list open. Two stores have all kinds of parts, and axe takes a minute for nine."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python: pip install -e '.[site]'"
    )
    page = opened(full(2), width=width, scheme=scheme)
    page.evaluate('document.querySelectorAll("details").forEach((each) => (each.open = true))')
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:300] for node in each["nodes"]][:3]) for each in found] == []
