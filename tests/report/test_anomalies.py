"""How the anomalies that analyses report are written."""

from __future__ import annotations

from typing import Any

from storeproof.report.claims import anomalies
from storeproof.report.claims.markdown import render_claims_html, render_claims_markdown
from storeproof.result.claims import AnomalyTried, AnomalyVerdict, JudgedClaims, ReportedAnomaly


def tried(product: str, number: int = 800, seen: str = "") -> AnomalyTried:
    return AnomalyTried(name="redis:volatile", product=product, run="r1", number=number, seen=seen)


def reported(verdict: AnomalyVerdict, **changed: Any) -> ReportedAnomaly:
    """Of an analysis of X 1.0."""
    fields: dict[str, Any] = {
        "analysis": "x-1.0", "title": "X 1.0", "source": "https://jepsen.io/analyses/x-1.0", "year": 2020, "kind": "isolation",
        "anomaly": "lost update", "level": "repeatable_read", "settings": "", "nodes": "several", "faults": ["partitions"],
        "expected": "none", "verdict": verdict, "tried": [],
    }  # fmt: skip
    return ReportedAnomaly.model_validate(fields | changed)


def test_what_was_seen_is_said_once_for_each_product() -> None:
    """With the first of its runs."""
    trials = [tried("X 2.0", seen="first after 9 commits"), tried("Y 1.0", seen="first after 3 commits"), tried("X 2.0", seen="later")]
    found = reported(AnomalyVerdict.STILL_SO, tried=trials)
    assert anomalies.here(found) == "X 2.0: first after 9 commits; Y 1.0: first after 3 commits"


def test_what_was_not_seen_has_its_number_and_what_that_leaves() -> None:
    """Summed over the runs of one product: two versions are not one."""
    found = reported(AnomalyVerdict.NOT_SEEN, tried=[tried("X 2.0"), tried("X 3.0", 500), tried("X 2.0", 1200)])
    assert anomalies.here(found) == (
        "X 2.0: in none of 2,000 contended transactions, at most 3 in 2,000; X 3.0: in none of 500 contended transactions, at most 3 in 500"
    )
    found = reported(AnomalyVerdict.NOT_SEEN, kind="durability", level="", tried=[tried("X 2.0", 45)])
    assert anomalies.here(found) == "X 2.0: in none of 45 rounds, at most 3 in 45"


def test_how_it_was_seen_there_is_one_line() -> None:
    """Level or settings, nodes, faults."""
    assert anomalies.how(reported(AnomalyVerdict.CANNOT_SAY)) == "repeatable read, several nodes, partitions"
    assert anomalies.how(reported(AnomalyVerdict.CANNOT_SAY, level="", settings="w: 1", nodes="one", faults=[])) == "w: 1, one node"


def test_both_kinds_of_page_have_a_table_of_them_with_the_sources() -> None:
    """What was seen comes first. Each analysis is named once, with a link and its note, and each command once."""
    judged = JudgedClaims(
        runs=[],
        claims=[],
        anomalies=[
            reported(AnomalyVerdict.CANNOT_SAY, reason="not tried <here>", command="pytest suites/ -k one", note="Mended | since."),
            reported(
                AnomalyVerdict.CANNOT_SAY, anomaly="write skew", reason="not tried", command="pytest suites/ -k one", note="Mended | since."
            ),
            reported(AnomalyVerdict.REPRODUCED, anomaly="read skew", tried=[tried("X 1.0", seen="first after 9 commits")]),
        ],
    )
    text, page = render_claims_markdown(judged), render_claims_html(judged)
    for each in (text, page):
        assert "3 anomalies: 1 reproduced, 0 still so, 0 not seen, 2 cannot say." in each
        assert each.index("read skew") < each.index("lost update") < each.index("write skew")
        assert each.count("https://jepsen.io/analyses/x-1.0") == 1
        assert each.count("pytest suites/ -k one") == 1
        assert "not tried &lt;here&gt;" in each
        assert "#what-jepsen-reports" in each
    assert "| ✔ reproduced | X 1.0 | read skew | repeatable read, several nodes, partitions | none | X 1.0: first after 9 commits |" in text
    assert "\n## What Jepsen reports\n" in text
    assert '<section id="what-jepsen-reports">' in page


def test_a_page_without_analyses_has_no_section_of_them() -> None:
    """As of a page of an earlier format."""
    judged = JudgedClaims(runs=[], claims=[])
    assert "Jepsen" not in render_claims_markdown(judged) + render_claims_html(judged)
