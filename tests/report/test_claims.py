"""How the numbers of a claim are written."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report.claims import words
from storeproof.report.claims.markdown import render_claims_html, render_claims_markdown
from storeproof.result.claims import JudgedClaim, JudgedClaims
from tests.result.claimed import around, judged, number, result, store

FOR_EACH: dict[str, Any] = {
    "for_each": ["ycsb-a", "ycsb-b"],
    "reproduced": {"above": 1},
    "a": {"store": "redis", "variant": "aof-always"},
    "b": {"store": "mongodb", "variant": "journaled"},
}


def two_workloads(a: bool = False, b: bool = False, rates: tuple[int, int] = (2000, 3000)) -> JudgedClaim:
    """Twice and three times as fast; where the load generator was the limit of A or B in the first."""
    sides = (("redis:aof-always", rates, a), ("mongodb:journaled", (1000, 1000), b))
    stores = [
        store(name, number("ycsb-a", *around(there[0]), at_least=limited), number("ycsb-b", *around(there[1])))
        for name, there, limited in sides
    ]
    return judged(FOR_EACH, result(*stores))


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (False, False, "2 to 3 in 2 workloads"),
        (True, False, "≥ 1.94 in 2 workloads"),
        (False, True, "≤ 3.1 in 2 workloads"),
        (True, True, "3 [2.9, 3.1] in 1 of 2 workloads"),
    ],
)
def test_several_ratios_are_written_as_their_range_or_the_bound_of_all(a: bool, b: bool, said: str) -> None:
    """A lower bound of one of them is none of a middle; with two lower bounds there is no ratio."""
    assert words.measured(two_workloads(a, b)) == said


@pytest.mark.parametrize(
    ("rates", "limited", "said"),
    [
        ((500, 3000), False, "0.5 [0.486, 0.514] in 1 of 2 workloads"),
        ((500, 3000), True, "≤ 0.514 in 1 of 2 workloads"),
        ((500, 400), False, "0.4 to 0.5 in 2 workloads"),
    ],
)
@pytest.mark.slow
def test_a_refuted_claim_shows_the_ratios_that_refute_it(rates: tuple[int, int], limited: bool, said: str) -> None:
    """And not those of the workloads for which the text may be right."""
    refuted = two_workloads(b=limited, rates=rates)
    assert (refuted.verdict, words.measured(refuted)) == ("refuted", said)


def test_both_sides_are_named_with_what_they_share_once() -> None:
    """Stores, workloads, clients."""
    assert words.sides(two_workloads()) == "redis:aof-always / mongodb:journaled, 2 workloads, 50 clients"


def test_a_figure_without_numbers_is_its_bounds() -> None:
    """An order has no ratio."""
    assert words.figure(two_workloads()) == "above 1"
    kept = judged({"keeps": {"store": "redis", "variant": "aof-always", "guarantee": "power_loss"}})
    assert (words.figure(kept), words.measured(kept)) == ("kept through power_loss", "–")


def test_claims_with_a_reason_alone_are_rows_of_one_table() -> None:
    """Those with a figure, a command or a note have parts of their own, on both pages."""
    told = [judged({"no_workload": "none | yet", "basis": "stated"}), judged({"no_workload": "none", "note": "But a note"})]
    page = JudgedClaims(runs=[], claims=[told[0], told[1].model_copy(update={"claim": "noted"})])
    text, html = render_claims_markdown(page), render_claims_html(page)
    assert "| 000 | c | stated | none \\| yet |" in text
    assert ("### c\n" in text, "### noted\n" in text) == (False, True)
    assert ('id="c"' in html, 'id="noted"' in html, html.count("none | yet")) == (False, True, 1)
