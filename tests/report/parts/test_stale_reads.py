"""Stale reads on every page: how many, how old, and whether the variant declares them."""

from __future__ import annotations

import pytest

from storeproof.outcome import Outcome
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.stale_reads import Stale, stale_of, stale_reads
from storeproof.result.measured.case_records import StaleReadCounts
from storeproof.result.model import OutcomeRecord
from tests.result.claimed import result
from tests.result.needs.needed import case, known

DECLARED = "stale reads are declared as possible: "
BESIDE = "18,893 reads beside 5,369 writes of 2 keys by 16 clients"
SEEN = f"{BESIDE}; 1,816 were stale, in 5 of 5 rounds; their age was 2.6 ms in the median, 63.2 ms at most\n'round1:hot1': get -> 3:25"
NONE = f"5 rounds, {BESIDE}; none was stale"
CUT = "5 rounds in which the front was cut off without a sign; 18 of 408 reads were stale, by 779 ms at most, which is declared as possible"


def seen_of(name: str, outcome: Outcome = Outcome.PASS, *, detail: str, reads: int = 18_893, stale: int = 0) -> OutcomeRecord:
    """A case that watched its reads."""
    seen = StaleReadCounts(reads=reads, stale=stale, oldest_ms=63.2 if stale else 0)
    return case(name, outcome, detail=detail).model_copy(update={"stale_reads": seen})


def verdict(found: OutcomeRecord) -> tuple[str, str, str]:
    """Its sign, how it is meant, and what was seen."""
    ((_, _, shown, seen),) = stale_reads(result(known("a:b", cases=[found]))).rows
    return shown.text, shown.tone, seen.text


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (seen_of("stale_reads.hash10", detail=NONE), ("✔ pass", "pass", NONE)),
        (
            seen_of("stale_reads.hash10", Outcome.UNSUPPORTED, detail=DECLARED + SEEN, stale=1816),
            ("✗ stale, as declared", "near", SEEN.partition("\n")[0]),
        ),
        (seen_of("stale_reads.hash10", Outcome.UNSUPPORTED, detail=DECLARED + NONE), ("none seen, and not promised", "open", NONE)),
        (seen_of("stale_reads.hash10", Outcome.FAIL, detail=SEEN, stale=1816), ("✘ fail", "fail", SEEN.partition("\n")[0])),
        (
            seen_of("durability.front_link/hang", detail=f"{CUT}; seed 7; reproduce: pytest", reads=408, stale=18),
            ("✗ stale, as declared", "near", CUT),
        ),
        (
            seen_of("durability.front_link/hang", detail="none of 408 reads was stale", reads=408),
            ("✔ pass", "pass", "none of 408 reads was stale"),
        ),
    ],
)
def test_what_was_declared_and_seen_is_amber_and_what_was_not_declared_red(found: OutcomeRecord, expected: tuple[str, str, str]) -> None:
    """Also where the case passes: it does not ask for what the variant does not promise."""
    assert verdict(found) == expected


def test_counts_are_those_of_all_models() -> None:
    """And the age that of the oldest."""
    cases = [
        seen_of("stale_reads.single_key", detail=NONE),
        seen_of("stale_reads.hash10", Outcome.UNSUPPORTED, detail=DECLARED + SEEN, stale=1816),
    ]
    assert stale_of(known("a:b", cases=cases)) == Stale(1816, 2 * 18_893, 63.2, broken=False)
    assert stale_of(known("a:b", cases=[seen_of("stale_reads.hash10", Outcome.FAIL, detail=SEEN, stale=1816)])) == Stale(
        1816, 18_893, 63.2, broken=True
    )
    assert stale_of(known("a:b", cases=[case("stale_reads.hash10", Outcome.NOT_RUN)])) is None
    none = seen_of("stale_reads.hash10", Outcome.UNSUPPORTED, detail=f"{DECLARED}not seen in 3,000 reads", reads=3000)
    assert stale_of(known("a:b", cases=[none])) == Stale(0, 3000, 0, broken=False), "they were tried"


def test_the_report_shows_them_with_what_is_durable() -> None:
    """As a page and as text; a run that watched no reads says nothing of them."""
    watched = result(known("a:b", cases=[seen_of("stale_reads.hash10", Outcome.UNSUPPORTED, detail=DECLARED + SEEN, stale=1816)]))
    for text in (render_html(watched), render_markdown(watched)):
        assert "1,816 were stale, in 5 of 5 rounds" in text
    assert 'id="stale"' in render_html(watched)
    assert 'id="stale"' not in render_html(result(known("a:b")))
