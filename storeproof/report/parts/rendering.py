"""Renders templates. All text is escaped: results may come from anywhere."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined

from storeproof import units
from storeproof.printable import printable


def environment(*own: BaseLoader) -> Environment:
    """The templates of the reports, and those of `own`, which may include them."""
    found = Environment(
        loader=ChoiceLoader([*own, PackageLoader("storeproof.report", ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["units"] = units
    return found


def whole_page(template: str, **shown: Any) -> str:
    """A page that needs no other file: its style is in it."""
    return printable(environment().get_template(template).render(css=style() + _text("report.css"), **shown))


def style() -> str:
    """What the pages of reports and of the site have in common."""
    return _text("parts/page.css")


def _text(name: str) -> str:
    return files("storeproof.report").joinpath(name).read_text(encoding="utf-8")
