"""One variant over its runs, which differ in edition, version and scale: what each found."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.report.parts.losses import COLUMNS, Loss, losses_of
from storeproof.site.answers import answers_of
from storeproof.site.evidence import Found, Variant


@dataclass(frozen=True)
class InRun:
    """What one run found."""

    found: Found
    shown: int
    """Capabilities that the variant was shown to have."""
    losses: tuple[Loss | None, ...]
    """Of each of `losses.COLUMNS`; None where the fault did not strike."""


def history_of(variant: Variant) -> list[InRun]:
    """The preferred run first."""
    history = []
    for found in variant.found:
        losses = losses_of(found.store)
        shown = sum(each.shown for each in answers_of(found.store).values())
        history.append(InRun(found, shown, tuple(losses.get(name) for name in COLUMNS)))
    return history
