"""The loads of all roles are in the report of their run and on its page of the site, where the evidence of a decision leads."""

from __future__ import annotations

import re

import pytest

from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.joint_loads import NOTE, joint_loads
from storeproof.result.model import Result
from storeproof.site import build_site
from storeproof.site.site_content import gather
from tests.report.sample import TARGETS, sample_result
from tests.result.needs.test_together import ONE, TWO, file, reached, together
from tests.shipped import SHIPPED
from tests.site.made import decided, sources
from tests.site.pages import broken_links, read_pages


@pytest.fixture(scope="module")
def run() -> Result:
    """One role kept its rate, and the other did not."""
    behind = reached(700, 90_000, gates={"missed_send_ratio": 0.9}, invalid=["missed_send_ratio"], missed_sends=400)
    return together(reached(), behind)


def test_each_role_has_a_row(run: Result) -> None:
    """With what it needed and what it reached."""
    rows = [[cell.text for cell in row] for row in joint_loads(run.stores).rows]
    assert [row[:4] + row[6:10] for row in rows] == [
        ["two", "cache", ONE, "single-mixed-rates", "1,000", "1,000", "A", "0"],
        ["two", "home", TWO, "single-mixed-rates", "1,000", "700", "✘ missed_send_ratio", "400"],
    ]


def test_reports_have_it_where_roles_were_under_load(run: Result) -> None:
    """And nothing of it elsewhere."""
    assert NOTE in render_html(run)
    assert NOTE in render_markdown(run)
    assert NOTE not in render_markdown(sample_result(TARGETS[:1]))


def test_the_evidence_of_a_decision_leads_to_it(run: Result) -> None:
    """Each sign of a rate to the row of its role."""
    found = sources(run)
    files = build_site(gather(found, SHIPPED, decided(found, file(candidates={"two": {"cache": ONE, "home": TWO}}))))
    assert broken_links(read_pages(files), files) == []
    anchors = re.findall(r'href="../run/together.html#(joint[^"]+)"', files["decision/d.html"])
    assert dict.fromkeys(anchors) == dict.fromkeys(
        f"joint.{store}.performance~2e~roles~2f~two~2f~{role}"
        for store, role in (("redis.volatile", "cache"), ("mongodb.journaled", "home"))
    )
