"""The claims as one page of HTML that needs no other file."""

from __future__ import annotations

from storeproof.report.claims import markdown, words
from storeproof.report.parts.rendering import whole_page
from storeproof.result.claims import ClaimVerdict, JudgedClaims


def render_claims_html(judged: JudgedClaims) -> str:
    return whole_page(
        "claims/claims.html.j2",
        judged=judged,
        verdicts=list(ClaimVerdict),
        words=words,
        said=markdown.said,
        sides=markdown.sides_of,
        overview=markdown.overview(judged),
    )
