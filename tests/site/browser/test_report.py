"""The report of a run in a browser: it is made of the same parts as the site, and holds to the same rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.report.html import render_html
from tests.report.clusters import ISOLATED
from tests.report.sample import TARGETS, sample_outage, sample_result
from tests.result.needs.needed import capability
from tests.site.made import fault, result, tried

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
    partition = fault("partition", Outcome.UNSUPPORTED, lost=900, cluster_rounds=[ISOLATED])
    durability = sample.stores[0].durability
    durability = durability.model_copy(update={"guarantees": [*durability.guarantees, partition]})
    struck = [sample_outage("crash"), sample_outage("pause", lost=3, claimed=False)]
    first = sample.stores[0].model_copy(update={"outages": struck, "durability": durability})
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


LETTERS = """(picture) => {
  const frame = picture.getBoundingClientRect();
  return [...picture.querySelectorAll("text")].map((each) => {
    const box = each.getBoundingClientRect();
    return [each.textContent, box.height, box.left - frame.left, frame.right - box.right, box.top];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_round_on_a_cluster_can_be_read_on_every_screen(opened: Any, width: int, scheme: str) -> None:
    """Its letters have the same size, none is cut off, and no two texts of lanes and events are in one line; stripes tell what was lost."""
    picture = opened(full(1), width=width, scheme=scheme).locator(".lanes > svg")
    assert picture.count() == 1
    letters = picture.evaluate(LETTERS)
    assert len(letters) > 8
    assert all(11 <= height < 20 and left >= -1 and right >= -1 for _, height, left, right, _ in letters), letters
    tops = [top for text, *_, top in letters if ": " in text]
    assert len(set(tops)) == len(tops) == 6
    lost = picture.locator("path[fill*=lost]")
    assert lost.count() == 1
    assert lost.bounding_box()["height"] > 10


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
