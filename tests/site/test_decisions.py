"""The pages of decisions: listed on the first screen, and each sign leads to the page of the site that has its evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from storeproof.outcome import Outcome
from storeproof.result.model import StoreResult
from storeproof.site import build_site
from storeproof.site.site_content import gather
from storeproof.spec.questions.read_needs import capabilities_of
from tests.result.claimed import around, number, result
from tests.result.needs.levels import MIXES, level_case, level_cases, seen
from tests.result.needs.needed import SHAPE, capability, known, needs, struck
from tests.shipped import SHIPPED
from tests.site.made import decided, sources, tried
from tests.site.pages import broken_links, read_pages

EXPIRY, GROUP = "expiry.put-expiring", "key_access"
NEEDS = needs(must=[GROUP, EXPIRY], guarantee="process_crash", load={"mix": [{"operation": "get"}], "rate": 1000})


def store(target: str, expires: Outcome, *rates: float) -> StoreResult:
    """All is answered but expiry, of which the outcome is given."""
    names = capabilities_of(GROUP, SHIPPED)
    return known(
        target,
        *(number("single-get", *around(each)) for each in rates),
        cases=[SHAPE, *(case for name in names for case in capability(name)), *capability(EXPIRY, expires)],
        faults=[struck("clean_restart"), struck("process_crash")],
        capabilities=tried("x:x", *((name, Outcome.PASS) for name in names), (EXPIRY, expires)).capabilities,
    )


@pytest.fixture(scope="module")
def files() -> Mapping[str, str]:
    """Of a site with one decision on two stores."""
    found = sources(result(store("redis:aof-always", Outcome.PASS, 2000), store("mongodb:journaled", Outcome.UNSUPPORTED)))
    return build_site(gather(found, SHIPPED, decided(found, NEEDS)))


def cells(page: str, candidate: str) -> list[str]:
    """Where the signs of a candidate lead, in the order of the needs."""
    row = re.search(rf'<tr><th scope="row" class="[a-z]+"><a href="#candidate-{candidate}">.*?</tr>', page, flags=re.DOTALL)
    assert row is not None
    return re.findall(r'<td[^>]*><a href="([^"]+)"', row[0])


def test_each_sign_leads_to_the_page_that_has_its_evidence(files: Mapping[str, str]) -> None:
    """The history, the list of a group, the answer, the fault and the number."""
    assert cells(files["decision/d.html"], "redis:aof-always") == [
        "../run/r1.html#model.redis.aof-always.single_key",
        "../store/redis.aof-always.html#does",
        "../capability/expiry.put-expiring.html#of.redis.aof-always",
        "../run/r1.html#loss.redis.aof-always.process_crash",
        "../run/r1.html#number.redis.aof-always.single-get.0i.50c",
    ]


def test_what_was_not_shown_leads_to_the_command_that_would_show_it(files: Mapping[str, str]) -> None:
    """On the page itself; what is lacking leads to the refusal."""
    page = files["decision/d.html"]
    *_, expiry, _, rate = cells(page, "mongodb:journaled")
    assert expiry == "../capability/expiry.put-expiring.html#of.mongodb.journaled"
    assert rate == "#candidate-mongodb:journaled-data/rate/1,000-operations/s"
    part = page[page.index(f'id="{rate[1:]}"') :].partition("</details>")[0]
    assert "--store=mongodb:journaled --scale=standard" in part


def test_every_link_of_a_decision_arrives(files: Mapping[str, str]) -> None:
    """At a file of the site and an anchor in it; each id is there once."""
    pages = read_pages(files)
    assert broken_links(pages, files) == []
    ids = pages["decision/d.html"].page.ids
    assert len(ids) == len(set(ids))


def test_a_need_of_isolation_leads_to_the_transactions_that_were_tried() -> None:
    """On the page of their run; to those first that refute the level."""
    cases = [SHAPE, *level_cases("serializable", MIXES[:3]), level_case("serializable", MIXES[3], Outcome.FAIL, seen("G2-item"))]
    found = sources(result(known("sqlite:wal-full", cases=cases), known("sqlite:wal-normal", cases=[SHAPE, *level_cases("serializable")])))
    made = build_site(gather(found, SHIPPED, decided(found, needs(isolation="serializable"))))
    assert broken_links(read_pages(made), made) == []
    page = made["decision/d.html"]
    assert cells(page, "sqlite:wal-full")[1] == f"../run/r1.html#isolation.sqlite.wal-full.serializable.{MIXES[3]}"
    assert cells(page, "sqlite:wal-normal")[1] == f"../run/r1.html#isolation.sqlite.wal-normal.serializable.{MIXES[0]}"


def test_decisions_are_listed_on_the_first_screen_and_in_the_navigation(files: Mapping[str, str]) -> None:
    """The question with its answer. A site without one has no such part."""
    pages = read_pages(files)
    assert "Which store? redis:aof-always meets every need." in pages["index.html"].page.text
    assert "decision/d.html" in pages["index.html"].page.links
    assert "../index.html#decisions" in pages["run/r1.html"].page.links
    without = read_pages(build_site(gather(sources(result(store("redis:aof-always", Outcome.PASS))), SHIPPED)))
    assert "index.html#decisions" not in without["index.html"].page.links
