"""Every page of a site: it can be read, its links arrive, it fetches nothing from elsewhere, and text from results stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from storeproof.outcome import Outcome
from storeproof.report.parts.cluster_rounds import told
from storeproof.result.json_file import write_result
from storeproof.site import build_site
from storeproof.site.names import run_page, store_page, variant_page
from storeproof.site.rates import rates_of
from storeproof.site.site_content import SiteContent, gather
from storeproof.site.sources import read_sources
from storeproof.spec.editions.dispute import Dispute
from tests.report.clusters import ISOLATED
from tests.report.parts import test_crash_states as drawn
from tests.report.sample import sample_outage, sample_result
from tests.shipped import SHIPPED
from tests.site.made import content as content_of
from tests.site.made import fault, rate, result, struck, tried
from tests.site.pages import Read, broken_links, read_pages

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> ../../x \u202egnp.exe \x1b[31m \x00 </script> {{ 7 * 7 }}'
SPOILT = result(
    tried("redis:aof-always", ("key_access.put-get", Outcome.PASS), ("expiry.put-expiring", Outcome.UNSUPPORTED), detail=HOSTILE),
    tried(f"{HOSTILE}:{HOSTILE}", ("text.word", Outcome.FAIL), (HOSTILE, Outcome.FAIL), detail=HOSTILE, title=HOSTILE, version=HOSTILE),
    struck(
        "tarantool:memtx-tree-fsync",
        fault("power_loss", Outcome.KNOWN_FAIL, lost=210),
        settings={HOSTILE: HOSTILE},
        version="Tarantool 2.6.0",
    ),
    run=HOSTILE,
    command=HOSTILE,
    started="2026-12-01T00:00:00Z",
)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> SiteContent:
    """Of two results, as they are read from files: one of all stores, and one whose every text is hostile."""
    folder = tmp_path_factory.mktemp("results")
    sample = sample_result()
    with_outages = sample.stores[0].model_copy(update={"outages": [sample_outage("crash"), sample_outage("pause", lost=3, claimed=False)]})
    first = with_outages.measurements[0]
    partition = fault("partition", Outcome.UNSUPPORTED, lost=900, cluster_rounds=[ISOLATED])
    durability = with_outages.durability.model_copy(update={"guarantees": [*with_outages.durability.guarantees, partition]})
    twice = with_outages.model_copy(update={"measurements": [first, *with_outages.measurements], "durability": durability})
    write_result(sample.model_copy(update={"stores": [twice, *sample.stores[1:]]}), folder / "sample" / "result.json")
    write_result(SPOILT, folder / "hostile" / "result.json")
    return gather(read_sources([folder]), SHIPPED)


@pytest.fixture(scope="module")
def files(content: SiteContent) -> Mapping[str, str]:
    """The files of its site."""
    return build_site(content)


@pytest.fixture(scope="module")
def pages(files: Mapping[str, str]) -> dict[str, Read]:
    """Its pages."""
    return read_pages(files)


@pytest.mark.slow
def test_ids_are_unique_on_every_page(pages: dict[str, Read]) -> None:
    """An anchor leads to one place."""
    for each in pages.values():
        assert len(each.page.ids) == len(set(each.page.ids)), each.path


def test_every_link_arrives(pages: dict[str, Read], files: Mapping[str, str]) -> None:
    """At a file of the site, and at an anchor that is in it."""
    assert sum(len(each.page.links) for each in pages.values()) > 1000
    assert broken_links(pages, files) == []


def test_a_broken_link_is_found(pages: dict[str, Read], files: Mapping[str, str]) -> None:
    """The check sees a page that is gone, and an anchor that is gone."""
    some = {"index.html": files["index.html"] + '<a href="run/none.html"></a><a href="runs.html#none"></a><a href="#role=cache"></a>'}
    found = broken_links(pages | read_pages(some), files)
    assert found == ["index.html: run/none.html", "index.html: runs.html#none"]


def test_nothing_is_fetched_from_elsewhere(pages: dict[str, Read], files: Mapping[str, str]) -> None:
    """Style, script and pictures are files of the site; neither style nor script names an address."""
    for each in pages.values():
        assert all(re.fullmatch(r"(?:\.\./)?(?:site\.(?:css|js)|badge/[^:]+\.svg)|data:,", link) for link in each.loaded), each.path
    assert not re.search(r"https?:|//[a-z]|@import|url\(", files["site.css"])
    assert not re.search(
        r"https?:|fetch\(|XMLHttpRequest|import\s*\(|innerHTML|insertAdjacentHTML|document\.write|eval\(", files["site.js"]
    )


def test_text_from_results_stays_text(pages: dict[str, Read], files: Mapping[str, str]) -> None:
    """Markup is escaped, control and direction characters are shown as their code, and no file leaves the site."""
    assert sum("alert(1)" in each.text for each in pages.values()) > 5
    for each in pages.values():
        assert each.page.tags.count("script") == len(
            re.findall(r"<script (?:type=\"application/json\" id=\"data\"|src=\"(?:\.\./)?site\.js\" defer)>", each.text)
        )
        assert "img" not in each.page.tags or each.path.startswith("store/")
        assert not re.search("[\x00\x1b\u202e]", each.text), each.path
        assert each.text.count("7 * 7") == each.text.count("{{ 7 * 7 }}"), each.path
    assert all(re.fullmatch(r"(?:[a-z]+/)?[a-z0-9_~.-]+", path) and ".." not in path for path in files)


def test_a_round_on_a_cluster_is_drawn_on_the_page_of_its_variant(content: SiteContent, pages: dict[str, Read]) -> None:
    """The sentence first; a variant without such a round has no such part."""
    of_variants = {each.name: pages[variant_page(each.store, each.variant)] for each in content.variants}
    with_round = of_variants.pop("sqlite:wal-full")
    assert told(ISOLATED) in with_round.text
    assert "round-1-title" in with_round.page.ids
    assert with_round.text.index('id="losses"') < with_round.text.index("round-1-title") < with_round.text.index('id="cost"')
    assert not any("round-1-title" in each.page.ids for each in of_variants.values())


def test_what_is_disputed_and_its_makers_reply_are_on_the_page_of_the_store(content: SiteContent) -> None:
    """As text, whatever it holds, with the decision below it; a store of which nothing is disputed has no such part."""
    line = '"><script>alert(1)</script> {{ 7 * 7 }}'
    reply = {"by": line, "on": "2026-11-30", "said": line, "source": "https://example.org/1"}
    about = {"store": "redis", "setting": line, "affected": "Redis", "reason": line, "reply": reply}
    fields = {"format": "1.1", "dispute": "sync", "state": "upheld", "decision": "as the manual has it", **about}
    made = build_site(replace(content, disputes=[Dispute.model_validate(fields)]))
    part = made[store_page("redis")].partition('id="disputes"')[2].partition("<h2")[0]
    assert part.count(str(escape(line))) == 4
    assert "<script" not in part
    assert part.index("2026-11-30") < part.index("It stays as it is: as the manual has it")
    assert 'id="disputes"' not in made[store_page("tarantool")]


def test_a_failing_state_of_a_disk_is_drawn_on_the_page_of_its_run(pages: dict[str, Read]) -> None:
    """As the report draws it, under its case; a run without one has no such part."""
    made = drawn.result(drawn.failed(2))
    page = build_site(content_of(made))[run_page(made.run.id)]
    assert page.index("durability.crash_states/power_loss") < page.index('<figure class="states">')
    assert page.count("<caption><code>") == 2
    assert '<i class="page missing" title="page 4 to 499 missing">4 to 499</i>' in page
    assert not any('class="states"' in each.text for each in pages.values())


def test_the_data_of_the_scripts_can_be_read(files: Mapping[str, str], content: SiteContent) -> None:
    """It is JSON that no text can end, and has every variant."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', files["index.html"], flags=re.DOTALL)
    data = json.loads(text)
    assert len(data["variants"]) == len(content.variants) == 10
    assert any("<script>alert(1)</script>" in each["title"] for each in data["variants"])
    assert "<" not in text


def test_every_number_of_a_run_has_a_permanent_anchor(content: SiteContent, pages: dict[str, Read]) -> None:
    """Named by store, variant, workload, indexes and clients: the same from site to site."""
    for source in content.sources:
        page = pages[run_page(source.result.run.id)].page
        for store in source.result.stores:
            assert {each.anchor for each in rates_of(store)} <= set(page.ids)
    assert "number.redis.aof-always.single-get.0i.50c" in pages["run/sample-0001.html"].page.ids


def test_every_variant_and_capability_has_a_page(content: SiteContent, pages: dict[str, Read]) -> None:
    """And the page of a variant says what was found of it."""
    for each in content.variants:
        assert each.variant in pages[variant_page(each.store, each.variant)].page.text
    redis = pages["store/redis.aof-always.html"].page.text
    assert "Store a record with a time to live" in redis
    tarantool = pages["store/tarantool.memtx-tree-fsync.html"]
    assert "210 of 1,000 21 %" in tarantool.page.text
    assert "https://github.com/tarantool/tarantool/issues/5977" not in tarantool.page.text, "of another variant"
    assert "reopened without O_SYNC" in tarantool.page.text


def test_a_capability_has_its_request_its_answer_and_its_yaml(pages: dict[str, Read]) -> None:
    """In words that need no knowledge of the YAML, and a link to its line."""
    page = pages["capability/text.word.html"].page
    assert 'find {"filter": [[], "words", "fox"], "fields": []}' in page.text
    assert 'correct: ["en4", "en5"]' in page.text
    assert "../spec/text.html#word" in page.links
    assert "word" in pages["spec/text.html"].page.ids


def test_a_number_that_is_not_valid_has_no_grade() -> None:
    """It is marked with what broke."""
    made = result(struck("redis:a", fault("process_crash"), measurements=[rate("single-get", 100, invalid=["errors"])]))
    (shown,) = rates_of(made.stores[0])
    assert (shown.text, shown.note, shown.grade) == ("✘ errors", "not valid", "")


def test_pages_open_from_disk(files: Mapping[str, str]) -> None:
    """No address begins at the root of a server, and the script is no module, which a browser does not load from disk."""
    for path, text in files.items():
        if path.endswith(".html"):
            assert not re.search(r'(?:href|src)="/', text), path
            assert 'type="module"' not in text
    assert not re.search(r"^\s*(?:import|export)\b", files["site.js"], flags=re.MULTILINE)


def test_a_site_is_made_of_results_without_capabilities_or_speeds(tmp_path: Path) -> None:
    """What was not tried is said to be so."""
    write_result(result(struck("own:x", fault("process_crash"), measurements=[])), tmp_path / "result.json")
    made = build_site(gather(read_sources([tmp_path]), SHIPPED))
    read = read_pages(made)
    assert broken_links(read, made) == []
    assert "No capability of this variant was tested" in read["store/own.x.html"].page.text
    assert "No capability was tested in these results" in read["capabilities.html"].page.text
