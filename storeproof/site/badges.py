"""Badges for the README of a store: an SVG, and the JSON of a shields endpoint that has the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from storeproof.report.tables import proven_cell
from storeproof.site.joined_results import SiteVariant
from storeproof.site.site_content import SiteContent

LABEL: Final = "storeproof"
_SURVIVES: Final = {
    "volatile": "keeps nothing, as it says",
    "clean_restart": "survives a clean restart",
    "process_crash": "survives kill -9",
    "power_loss": "survives a power cut",
}
COLOURS: Final = {"good": ("brightgreen", "#1a7f37"), "bad": ("red", "#b42318")}
OTHER: Final = ("lightgrey", "#5b6069")
_WIDE: Final = 6.6
"""Pixels of a character at 11 px; the text is stretched to the width that is computed from it."""


@dataclass(frozen=True)
class Badge:
    message: str
    colour: str
    """As shields names it."""
    paint: str
    """As CSS writes it, with a contrast to white of at least 4.5."""
    more: str = ""
    """What follows the message in the title of the picture, which browsers show on request."""

    @property
    def endpoint(self) -> str:
        """For `https://shields.io/badges/endpoint-badge`."""
        return json.dumps({"schemaVersion": 1, "label": LABEL, "message": self.message, "color": self.colour}, ensure_ascii=False) + "\n"

    @property
    def svg(self) -> str:
        """A picture that needs no other file."""
        left, right = round(len(LABEL) * _WIDE + 12), round(len(self.message) * _WIDE + 12)
        words = escape(f"{LABEL}: {self.message}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{_quoted(words)}">'
            f"<title>{words}{escape(self.more)}</title>"
            f'<rect width="{left}" height="20" fill="#3c4048"/><rect x="{left}" width="{right}" height="20" fill="{self.paint}"/>'
            '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
            f'<text x="6" y="14" textLength="{left - 12}">{LABEL}</text>'
            f'<text x="{left + 6}" y="14" textLength="{right - 12}">{escape(self.message)}</text></g></svg>\n'
        )


def badge_of(variant: SiteVariant, content: SiteContent) -> Badge:
    """What was proven of a variant, and how many capabilities it has."""
    words = [survives(variant.durability.proven)]
    answers = content.answers[variant.name]
    if answers:
        words.append(f"{sum(each.shown for each in answers.values())} of {len(answers)} capabilities")
    colour, paint = COLOURS.get(proven_cell(variant.kept.store).tone, OTHER)
    return Badge(" · ".join(words), colour, paint)


def survives(proven: str | None) -> str:
    """What was proven, in words; None: nothing."""
    return "durability not shown" if proven is None else _SURVIVES.get(proven, proven)


def default_of(variants: list[SiteVariant], content: SiteContent) -> SiteVariant:
    """The variant that stands for a store: its default, else the first, which has capabilities if one has."""
    store = content.stores.get(variants[0].store)
    return next((each for each in variants if store is not None and each.variant == store.default_variant), variants[0])


def _quoted(text: str) -> str:
    return text.replace('"', "&quot;")
