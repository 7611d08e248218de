"""A decision as one page of HTML that needs no other file."""

from __future__ import annotations

from storeproof.report.decision import tables, words
from storeproof.report.decision.links import OwnLinks
from storeproof.report.parts.rendering import whole_page
from storeproof.result.needs.decision import Decision


def render_page(decision: Decision) -> str:
    return whole_page("decision/decision.html.j2", decision=decision, tables=tables, words=words, links=OwnLinks())
