"""The claims as one page of HTML that needs no other file."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from storeproof.printable import printable
from storeproof.report.claims import markdown, words
from storeproof.result.claims import Judged, Verdict


def render_claims_html(judged: Judged) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("storeproof.report.claims", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return printable(
        environment.get_template("claims.html.j2").render(
            judged=judged,
            verdicts=list(Verdict),
            words=words,
            said=markdown.said,
            sides=markdown.sides_of,
            overview=markdown.overview(judged),
            css=files("storeproof.report").joinpath("report.css").read_text(encoding="utf-8"),
        )
    )
