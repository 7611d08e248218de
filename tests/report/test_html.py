"""The page shows all that is in the result, needs nothing else, and cannot be broken by what a store answers."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from storeproof.outcome import Outcome
from storeproof.report import tables
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.speed import numbers
from storeproof.result.model import Result
from tests.pace import processor_seconds, unit
from tests.report.sample import TARGETS, sample_result

VOID = {"meta", "br", "link", "img", "hr", "input", "path", "use", "rect"}


class Page(HTMLParser):
    """The text, the ids and the links of a page; open elements are checked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href"):
                self.links.append(value or "")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def result() -> Result:
    return sample_result()


@pytest.fixture(scope="module")
def timed(result: Result) -> tuple[str, float]:
    """The page, and how many units of processor time it took."""
    render_html(sample_result([]))  # what is imported and read once is not counted
    pages: list[str] = []
    took = processor_seconds(lambda: pages.append(render_html(result)))
    return pages[0], took / unit()


@pytest.fixture(scope="module")
def rendered(timed: tuple[str, float]) -> str:
    return timed[0]


@pytest.fixture(scope="module")
def page(rendered: str) -> Page:
    return Page(rendered)


def test_every_outcome_is_on_the_page(result: Result, page: Page) -> None:
    """Every case by its id, and for every one that is not a pass its detail."""
    for store in result.stores:
        for each in store.outcomes:
            assert each.id in page.text
    details = sum(each.outcome is not Outcome.PASS for store in result.stores for each in store.outcomes)
    assert page.text.count("<script>alert(1)</script> | a pipe") >= details


def test_the_footer_holds_the_sums(result: Result, page: Page) -> None:
    """So that a page that was cut short shows it."""
    foot = page.text[page.text.index("The sums of result.json") :]
    outcomes = sum(len(store.outcomes) for store in result.stores)
    measurements = sum(len(store.measurements) for store in result.stores)
    assert f"stores and variants {len(result.stores)} outcomes {outcomes} " in foot
    for outcome in Outcome:
        assert f"{outcome} {sum(store.counts[outcome] for store in result.stores)} " in foot
    assert f"measurements {measurements} " in foot
    assert f"END OF REPORT · 9 stores · {outcomes} outcomes · {measurements} measurements" in foot


def test_every_link_stays_on_the_page_and_arrives(page: Page) -> None:
    """One file, no network: a link is a fragment, and its target exists once."""
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        assert link.startswith("#"), link
        assert link[1:] in page.ids, link


def test_nothing_is_fetched(rendered: str) -> None:
    """No style, font, script or picture comes from elsewhere."""
    assert "@import" not in rendered
    assert not re.search(r"\b(?:src|href)=[\"'](?!#)", rendered)
    assert set(re.findall(r"https?://[^\s\"'<)]+", rendered)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_hostile_details_stay_text(rendered: str, page: Page) -> None:
    """Markup, NUL and ESC of a store are shown, and do nothing."""
    assert page.tags.count("script") == 1
    assert "\x00" not in rendered
    assert "\x1b" not in rendered
    assert "\\x00 NUL" in page.text


def test_every_measurement_is_in_a_table_beside_its_proven_durability(result: Result, page: Page) -> None:
    """No number without the durability it was reached under."""
    for store in result.stores:
        rows = page.text.count(f"{store.store}:{store.variant} {store.durability.proven} ")
        assert rows >= len(store.measurements)


def test_claimed_proven_and_lost_are_on_the_ladder(page: Page) -> None:
    """Also what was lost where the claim did not hold."""
    held = "✔ pass (none of 5 faults lost anything; 95 %: < 46 %)"
    lost = "✘ fail: 55 of 15,840 operations (< 1 %); records: 53 lost, 1 torn (1 of 5 faults lost anything"
    assert f"mongodb:default process_crash clean_restart {held} {lost}" in page.text


def test_only_what_is_invalid_is_marked_as_such(result: Result, page: Page) -> None:
    """In the table by name and value, and counted beside the workload's title; a lower bound has its sign and its reason."""
    every = [each for store in result.stores for each in store.measurements]
    assert page.text.count("✘ errors 0.02 (limit 0.001)") == sum(bool(each.invalid) for each in every) > 0
    assert page.text.count("≥ client_cpu 0.97 (limit 0.9)") == sum(each.at_least for each in every) > 0
    assert numbers.count(every) in page.text
    for measured in tables.workloads(result).values():
        assert numbers.count(each for _, each in measured) in page.text


@pytest.mark.parametrize("scale", ["smoke", "standard", "full", "own"])
def test_the_scale_stands_in_large_letters(scale: str, undrawn: None) -> None:
    """A smoke run must not be taken for a decision."""
    text = render_html(sample_result(TARGETS[:1], scale=scale))
    assert f'<div class="scale {scale}"><b>{scale}</b>' in text


def test_empty_sections_are_said() -> None:
    """No store at all; and a store that could not be started."""
    empty = Page(render_html(sample_result([])))
    for sentence in ("No store was run.", "Nothing was measured in this run.", "No profile was asked for", "No fault was struck"):
        assert sentence in empty.text
    result = sample_result(TARGETS[:1])
    store = result.stores[0]
    nothing = store.model_copy(
        update={
            "version": None,
            "launch": None,
            "outcomes": [],
            "counts": {},
            "capabilities": [],
            "measurements": [],
            "profiles": [],
            "durability": store.durability.model_copy(update={"proven": None, "guarantees": []}),
        }
    )
    text = Page(render_html(result.model_copy(update={"stores": [nothing]}))).text
    assert "never reached" in text
    assert "not tried" in text
    assert "No case was run for this store." in text


def test_one_store_with_one_number_of_clients_renders() -> None:
    """No plot breaks on a single point, an interval of zero, or percentiles that were withheld."""
    result = sample_result(TARGETS[:1])
    store = result.stores[0]
    one = store.measurements[-1]
    latency = one.latency_us.model_copy(update={"p50": None, "p95": None, "p99": None, "p999": None})
    spread = one.throughput.model_copy(update={"low": one.throughput.median, "high": one.throughput.median})
    bare = [one.model_copy(update={"latency_us": latency, "throughput": spread, "clients": clients}) for clients in (1, 2, 3)]
    for measurements in (bare, bare[:1]):
        changed = store.model_copy(update={"measurements": measurements})
        assert "row-load" in render_html(result.model_copy(update={"stores": [changed]}))


def test_the_quick_check_of_one_store_has_tables_alone() -> None:
    """Numbers that are too few for decisions are drawn where they are compared."""
    for names, scale, drawn in ((1, "smoke", False), (1, "standard", True), (2, "smoke", True)):
        result = sample_result(TARGETS[:names])
        page = render_html(result.model_copy(update={"run": result.run.model_copy(update={"scale": scale})}))
        assert ("Latency by percentile" in page) == drawn, (names, scale)


def test_rendering_is_quick(timed: tuple[str, float]) -> None:
    """Nine stores, with some thirty plots, are rendered in 400 units of processor time, imports apart; 238 and 259 were seen."""
    assert timed[1] < 400


def test_every_capability_is_in_its_group_with_its_cases_one_click_away(result: Result, rendered: str, page: Page) -> None:
    """Each capability stands in its group, and links to its cases."""
    names = {each.capability for store in result.stores for each in store.capabilities}
    assert names
    for name in names:
        assert f'<tbody data-group="{name.partition(".")[0]}">' in rendered
        assert page.links.count(f"#capability-{name}") == len(result.stores)
        assert page.ids.count(f"capability-{name}") == 1


def test_a_run_that_asked_for_no_capability_folds_them_all() -> None:
    """One of workloads alone leaves out two hundred lines, which are still there."""
    result = sample_result(TARGETS[:1])
    silent = [
        each.model_copy(update={"outcome": (Outcome.NOT_RUN, Outcome.EXCLUDED)[at % 2], "passed": 0})
        for at, each in enumerate(result.stores[0].capabilities)
    ]
    store = result.stores[0].model_copy(update={"capabilities": silent})
    for render in (render_html, render_markdown):
        text = render(result.model_copy(update={"stores": [store]}))
        assert "<summary>None was tried in this run</summary>" in text
        assert all(each.capability in text for each in silent)
        assert "None was tried" not in render(result)
