"""A decision as one page of HTML that needs no other file."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from storeproof.printable import printable
from storeproof.report.decision import tables, words
from storeproof.result.needs.decision import Decision


def render_page(decision: Decision) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("storeproof.report", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    css = files("storeproof.report").joinpath("report.css").read_text(encoding="utf-8")
    return printable(environment.get_template("decision/decision.html.j2").render(decision=decision, tables=tables, words=words, css=css))
