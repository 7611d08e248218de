"""The page and the record of a decision: every cell leads to its evidence, and nothing in a result is read as markup."""

from __future__ import annotations

import re
from pathlib import Path

from storeproof.outcome import Outcome
from storeproof.report.decision.record import render_page, render_record
from storeproof.result.json_file import write_result
from storeproof.result.measured.case_records import StaleReadCounts
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.joined_results import ReadResult
from tests.result.claimed import around, number, result
from tests.result.needs.needed import SHAPE, capability, case, decided, known, needs, struck
from tests.shipped import SHIPPED

EXPIRY = "expiry.put-expiring"


def decision() -> Decision:
    """Two candidates of one run, of which one lacks expiry."""
    file = needs(must=[EXPIRY], guarantee="process_crash", load={"mix": [{"operation": "get"}], "rate": 1000})
    faults = [struck("clean_restart"), struck("process_crash")]
    get = number("single-get", *around(2000))
    stores = (
        known("redis:aof-always", get, cases=[SHAPE, *capability(EXPIRY)], faults=faults),
        known("mongodb:journaled", get, cases=[SHAPE, *capability(EXPIRY, Outcome.UNSUPPORTED)], faults=faults),
    )
    return decided(file, result(*stores))


def test_every_cell_leads_to_its_evidence_in_one_click() -> None:
    """Each link has its place on the page, and each id is there once."""
    page = render_page(decision())
    ids = re.findall(r'\bid="([^"]+)"', page)
    links = re.findall(r'href="#([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert len(links) == 2 * 5 + 1, "two candidates with four needs each, and the one on the front"
    assert set(links) <= set(ids)


def test_the_page_begins_with_the_answer() -> None:
    """As its heading."""
    assert re.search(r"<h1>redis:aof-always meets every need\.", render_page(decision()))


def test_the_page_needs_no_other_host() -> None:
    """It opens from disk."""
    assert not re.findall(r'(?:src|href)="(?!#)', render_page(decision()))


def test_text_of_a_result_is_no_markup() -> None:
    """Details come from servers."""
    hostile = case("stateful.single_key", Outcome.FAIL, detail="<script>alert(1)</script>\u202e|x")
    found = decided(needs(), known("redis:volatile", cases=[hostile]))
    page = render_page(found)
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_the_record_leaves_the_decision_open(tmp_path: Path) -> None:
    """It has the needs, the options, the evidence with the hashes of its files, known failures, and a date until which it holds."""
    failing = case("durability.power_loss", Outcome.KNOWN_FAIL, detail="a rewritten log changes doubles")
    file = tmp_path / "result.json"
    of_run = result(known("redis:volatile", cases=[SHAPE, failing]), started="2026-01-01T00:00:00Z")
    write_result(of_run, file)
    text = render_record(decide(needs(), [ReadResult(file, of_run)], SHIPPED))
    assert "## Decision\n\nOpen." in text
    assert "* records of single\\_key (data)" in text or "* records of single_key (data)" in text
    assert re.search(r"SHA-256 [0-9a-f]{64}", text)
    assert "redis:volatile: durability.power_loss: a rewritten log changes doubles" in text
    assert "* Valid until 2026-06-30, or until a store is upgraded." in text


def test_stale_reads_are_told_although_no_need_asks_for_them(tmp_path: Path) -> None:
    """They are what a cache before a database costs, and the needs may all be met."""
    seen = "9 reads beside 8 writes of 2 keys by 16 clients; 7 were stale, in 5 of 5 rounds; their age was 2.6 ms in the median"
    stale = case("stale_reads.hash10", Outcome.UNSUPPORTED, detail=f"stale reads are declared as possible: {seen}")
    stale = stale.model_copy(update={"stale_reads": StaleReadCounts(reads=9, stale=9, oldest_ms=9)})
    file = tmp_path / "result.json"
    of_run = result(known("redis-over-mongodb:cache-aside", cases=[SHAPE, stale]))
    write_result(of_run, file)
    found = decide(needs(), [ReadResult(file, of_run)], SHIPPED)
    for text in (render_page(found), render_record(found)):
        assert f"redis-over-mongodb:cache-aside: stale_reads.hash10: {seen}" in text.replace("\\", "")
